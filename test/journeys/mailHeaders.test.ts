import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { assertRefused } from "../contract/contract.ts"
import { makeAccount, Service } from "../support/Service.ts"

const refused: ReadonlyArray<readonly [what: string, headers: unknown, field: string, says: RegExp]> = [
  ["a Bcc", { Bcc: "a@b.example" }, "headers.Bcc", /no field that a mail may set/],
  ["a signature", { "DKIM-Signature": "v=1" }, "headers.DKIM-Signature", /no field that a mail may set/],
  ["a content type", { "Content-Type": "text/html" }, "headers.Content-Type", /no field that a mail may set/],
  [
    "an unsubscribe link",
    { "List-Unsubscribe": "<https://x.example>" },
    "headers.List-Unsubscribe",
    /service sets this/
  ],
  [
    "an unsubscribe button",
    { "list-unsubscribe-post": "List-Unsubscribe=One-Click" },
    "headers.list-unsubscribe-post",
    /service sets this/
  ],
  ["a line break in a value", { "X-A": "a\r\nBcc: b@c.example" }, "headers.X-A", /line breaks/],
  ["a line feed in a value", { "X-A": "a\nb" }, "headers.X-A", /line breaks/],
  ["a carriage return in a value", { "X-A": "a\rb" }, "headers.X-A", /line breaks/],
  ["a NUL in a value", { "X-A": "a\0b" }, "headers.X-A", /NUL/],
  ["a line break in a name", { "X-A: b\r\nBcc": "c" }, "headers.X-A: b\\r\\nBcc", /no field that a mail may set/],
  ["an empty value", { "X-A": " " }, "headers.X-A", /must not be empty/],
  ["a value that is a number", { "X-A": 7 }, "headers.X-A", /must be a string/],
  ["a name in two cases", { "X-A": "1", "x-a": "2" }, "headers.x-a", /must be given once/],
  ["headers in an array", ["X-A"], "headers", /must be an object/]
]

const mail = { subject: "Hello", text: "Hello" }

/** Each request that sends mail, and the field before the name of its headers. */
const sends = [
  ["/v1/email/send", "", (headers: unknown) => ({ ...mail, to: "a@people.example", headers })],
  ["/v1/email/send-bulk", "", (headers: unknown) => ({ ...mail, recipients: ["a@people.example"], headers })],
  ["/v1/messages", "steps[0].", (headers: unknown) => ({
    to: { email: "a@people.example" },
    steps: [{ channel: "email", ...mail, headers }]
  })]
] as const

layer(Service.layer(), { excludeTestServices: true })("header fields of mail", (it) => {
  for (const [what, headers, field, says] of refused) {
    it.effect(`every send of mail refuses ${what} with 422, and stores nothing`, () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        for (const [path, prefix, bodyWith] of sends) {
          const answer = yield* node.request("POST", path, { key, json: bodyWith(headers) })
          assertRefused(answer, 422, "validation_error")
          assert.strictEqual(answer.at("error", "param"), `${prefix}${field}`, `${path} ${answer.text}`)
          assert.match(String(answer.at("error", "errors", 0, "message")), says)
        }
        const list = yield* node.request("GET", "/v1/email/messages", { key })
        assert.strictEqual(list.at("meta", "total"), 0)
      }))
  }
})
