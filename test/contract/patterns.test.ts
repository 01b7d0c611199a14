/** Patterns of the OpenAPI document, by which a client checks a value before it sends it. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { SenderId } from "../../src/channels/sms/text/segments.ts"
import { parseHttpsUrl } from "../../src/values/HttpsUrl.ts"
import { makeAccount, Service } from "../support/Service.ts"
import { patternsOf } from "./document.ts"

/** The only pattern of a field, wherever the document has it. */
const patternOf = (field: string) => {
  const [pattern = "", ...others] = [...new Set(patternsOf(field))]
  assert.notStrictEqual(pattern, "", `${field} has no pattern`)
  assert.deepStrictEqual(others, [])
  return new RegExp(pattern, "u")
}

/** Texts of a few of these parts, so that many are nearly right. */
const textOf = (...parts: ReadonlyArray<string>) =>
  Schema.Array(Schema.Literals(parts)).check(Schema.isMinLength(1), Schema.isMaxLength(4))

/** Written values, each with whether the service accepts it in development. */
const senders = {
  accepted: ["Shop", "A-1", "Shop & Co", "a.b_c-d", "+250788123456", "250788", "123", "12345678"],
  refused: ["", "AB", "TwelveLetter", "Shop!", " Shop", "Shop ", "Shop\n", "+", "+25 078", "Größe", "Shop 😀"]
}

const urls = {
  accepted: [
    "https://example.com",
    "HTTPS://EXAMPLE.COM/Hook?a=1&b=%20",
    "https://example.com:8443/ü",
    "http://127.0.0.1:9000/",
    "https://[2606:4700:4700::1111]/"
  ],
  refused: [
    "",
    "example.com",
    " https://example.com/",
    "https:/example.com",
    "ftp://example.com/",
    "https://example.com/#top"
  ]
}

describe("documented patterns", () => {
  it.prop("that of a sender id matches each sender id that the service accepts", [
    Schema.Literals(["a", "Shop", "2", "+2", "-"]),
    textOf("b", "3", "507881234", " ", "&", ".", "-", "_", "é"),
    Schema.Literals(["c", "4", " "])
  ], ([first, middle, last]) => {
    const text = [first, ...middle, last].join("")
    assert.isTrue(patternOf("sender_id").test(text) || !Schema.is(SenderId)(text), text)
  })

  it.prop("that of a webhook's URL matches each URL that the service accepts", [
    Schema.Literals(["https://", "HTTPS://", "http://", "https:", "ftp://", " https://"]),
    Schema.Literals(["example.com", "EXAMPLE.com.", "127.0.0.1", "[::1]:9000", "bücher.example", "10.0.0.1", ""]),
    textOf("/", "a", "?", "#", "%20", " ", "ü", "\u2028", "@")
  ], ([scheme, host, path]) => {
    const text = `${scheme}${host}${path.join("")}`
    for (const allowLoopback of [true, false]) {
      assert.isTrue(patternOf("url").test(text) || Result.isFailure(parseHttpsUrl(text, { allowLoopback })), text)
    }
  })
})

layer(Service.layer())("documented patterns and what the service answers", (it) => {
  const cases = [
    { path: "/v1/sms/send", field: "sender_id", values: senders, body: { to: "+250788123456", content: "Hello" } },
    { path: "/v1/webhooks", field: "url", values: urls, body: { events: ["email.sent"] } }
  ]

  for (const { body, field, path, values } of cases) {
    it.effect(`POST ${path} accepts a ${field} only if its pattern matches, and refuses each that it does not match`, () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const { key } = yield* makeAccount()
        const pattern = patternOf(field)
        for (const value of [...values.accepted, ...values.refused]) {
          const answer = yield* request("POST", path, { key, json: { ...body, [field]: value } })
          const isAccepted = values.accepted.includes(value)
          assert.strictEqual(isAccepted, pattern.test(value), value)
          assert.strictEqual(answer.at("error", "param"), isAccepted ? undefined : field, `${value}: ${answer.text}`)
        }
      }))
  }
})
