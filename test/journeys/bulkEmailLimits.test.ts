import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { assertRefused } from "../contract/contract.ts"
import { Relay } from "../support/Relay.ts"
import { makeAccount, Service } from "../support/Service.ts"
import type { Answer } from "../support/Service.ts"

const people = (count: number, variables: object) =>
  Array.from({ length: count }, (_, index) => ({ to: `p${index}@people.example`, variables }))

const names = (count: number) => Array.from({ length: count }, (_, index) => `v${index}`)

const places = (count: number) => names(count).map((name) => `{{${name}}}`).join("")

const valuesOf = (count: number) => Object.fromEntries(names(count).map((name) => [name, name]))

const errorsOf = (answer: Answer) =>
  answer.at("error", "errors") as ReadonlyArray<{ param: string; type: string; message: string }>

/** Posts a bulk email from a new account and checks that a refusal stores no batch. */
const post = Effect.fnUntraced(function*(json: object) {
  const node = yield* Service
  const sql = yield* SqlClient.SqlClient
  const { accountId, key } = yield* makeAccount()
  const answer = yield* node.request("POST", "/v1/email/send-bulk", { key, json: { subject: "s", html: "h", ...json } })
  const batches = yield* sql`select id from email_batches where account_id = ${accountId}`
  assert.strictEqual(batches.length, answer.status === 202 ? 1 : 0)
  return answer
})

layer(Relay.layer(), { excludeTestServices: true })((it) => {
  describe("size of bulk email", () => {
    const tooLarge: ReadonlyArray<readonly [what: string, texts: object, value: string, says: string]> = [
      [
        "HTML that its values fill",
        { html: "{{x}}".repeat(1_000) },
        "x".repeat(400_000),
        "must make html at most 10485760 bytes long"
      ],
      [
        "HTML that escaping makes too large",
        { html: "{{x}}".repeat(9) },
        "&".repeat(256 * 1024),
        "must make html at most 10485760 bytes long"
      ],
      [
        "text of three-byte characters that its values fill",
        { text: "{{x}}".repeat(9) },
        "\u6f22".repeat(400 * 1024),
        "must make text at most 10485760 bytes long"
      ],
      [
        "a subject that its values fill",
        { subject: "{{x}}" },
        "x".repeat(2_001),
        "must make subject at most 2000 characters long"
      ]
    ]
    for (const [what, texts, x, message] of tooLarge) {
      it.effect(`a batch is refused for ${what}, naming the recipient`, () =>
        Effect.gen(function*() {
          const answer = yield* post({ ...texts, recipients: [...people(2, { x: "fits" }), ...people(1, { x })] })
          assertRefused(answer, 422, "validation_error")
          assert.deepStrictEqual(errorsOf(answer), [{ param: "recipients[2].variables", type: "invalid", message }])
        }))
    }

    it.effect("a 2,000-character subject and an HTML with a thousand filled placeholders are accepted", () =>
      Effect.gen(function*() {
        const recipients = people(1, { x: "\u6f22".repeat(2_000), y: "&".repeat(2_000) })
        const answer = yield* post({ subject: "{{x}}", html: "{{y}}".repeat(1_000), recipients })
        assert.strictEqual(answer.status, 202, answer.text)
      }))

    it.effect("a batch of more than 250 MB of mail is refused, whether texts, values or both make it so large", () =>
      Effect.gen(function*() {
        const text = "x".repeat(500_000)
        const batches: ReadonlyArray<object> = [
          { html: text, text: "t", recipients: people(500, {}) },
          { html: "{{x}}".repeat(1_000), text: "t", recipients: people(500, { x: "x".repeat(500) }) },
          { html: "h", text: `{{x}}${text}`, recipients: people(500, { x: "x" }) }
        ]
        for (const json of batches) {
          const answer = yield* post(json)
          assertRefused(answer, 422, "validation_error")
          const [error] = errorsOf(answer)
          assert.strictEqual(error?.param, "recipients")
          assert.match(
            error?.message ?? "",
            /^must make at most 250000000 bytes of mail together, but make 250\d{6}; send the rest/
          )
        }
        const fits = yield* post({ html: text.slice(1_000), text: "t", recipients: people(500, {}) })
        assert.strictEqual(fits.status, 202, fits.text)
      }))

    it.effect("at most 50 oversized recipients are reported", () =>
      Effect.gen(function*() {
        const answer = yield* post({ subject: "{{x}}", recipients: people(500, { x: "x".repeat(2_001) }) })
        assertRefused(answer, 422, "validation_error")
        assert.deepStrictEqual(
          errorsOf(answer).map(({ param }) => param),
          Array.from({ length: 50 }, (_, index) => `recipients[${index}].variables`)
        )
      }))
  })

  describe("template variables", () => {
    it.effect("bulk email allows at most 500 different variables, with names of at most 100 characters", () =>
      Effect.gen(function*() {
        assert.strictEqual((yield* post({ html: places(500), recipients: people(1, valuesOf(500)) })).status, 202)
        const refused: ReadonlyArray<object> = [
          { html: places(501), recipients: people(1, valuesOf(501)) },
          { subject: "{{w}}", html: places(500), recipients: people(1, { ...valuesOf(500), w: 1 }) },
          { html: `{{${"n".repeat(101)}|}}`, recipients: people(1, {}) }
        ]
        for (const json of refused) {
          const answer = yield* post(json)
          assertRefused(answer, 422, "validation_error")
          assert.match(answer.text, /at most 500 different variables, with names of at most 100 characters/)
        }
      }))

    it.effect("single email, stored templates and bulk SMS have the same limits on variables", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const stored = yield* node.request("POST", "/v1/email/templates", {
          key,
          json: { name: "Full", subject: "s", html: places(500) }
        })
        const template_id = stored.at("data", "id")
        const variables = { ...valuesOf(501), w: 1 }
        const recipients = people(1, variables)
        const long = `{{${"n".repeat(101)}|}}`
        const to = "a@people.example"
        const phones = ["+250788123456"]
        const requests: ReadonlyArray<readonly [path: string, json: object, param: string]> = [
          ["/v1/email/send", { to, subject: "s", text: places(501), variables }, ""],
          ["/v1/email/send", { to, subject: "{{w}}", template_id, variables }, ""],
          ["/v1/email/send-bulk", { recipients, subject: "{{w}}", template_id }, ""],
          ["/v1/sms/send-bulk", { recipients: phones, content: `Hello ${long}` }, "content"]
        ]
        for (const [path, json, param] of requests) {
          const answer = yield* node.request("POST", path, { key, json })
          assertRefused(answer, 422, "validation_error")
          assert.strictEqual(answer.at("error", "param"), param, `${path}: ${answer.text}`)
          assert.match(answer.text, /at most 500 different variables/, path)
        }
      }))

    it.effect("lists and nested objects are ignored as values, and refused when a text uses them", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        for (const unused of [[], ["x"], { list: [] }, { deep: { deeper: 1 } }]) {
          const variables = { x: 1, unused }
          const single = { to: "a@people.example", subject: "s", html: "{{x}}", variables }
          const one = yield* node.request("POST", "/v1/email/send", { key, json: single })
          const many = yield* post({ html: "{{x}}", recipients: people(1, variables) })
          assert.deepStrictEqual([one.status, many.status], [202, 202], one.text + many.text)
          const used = yield* post({ html: "{{unused}}", recipients: people(1, variables) })
          assertRefused(used, 422, "validation_error")
          assert.match(errorsOf(used)[0]?.message ?? "", /for unused, not a list or an object/)
        }
        const fits = people(1, { x: 1, unused: { one: "x", two: null } })
        assert.strictEqual((yield* post({ html: "{{x}}{{unused|}}", recipients: fits })).status, 202)
        const read = yield* post({ html: "{{unused}}", recipients: fits })
        assert.strictEqual(errorsOf(read)[0]?.type, "missing_variable")
      }))

    it.effect("values that all recipients share have at most 16,384 bytes", () =>
      Effect.gen(function*() {
        const common = (length: number) => ({
          html: "{{x}}",
          variables: { x: "x".repeat(length) },
          recipients: people(2, {})
        })
        assert.strictEqual((yield* post(common(16_000))).status, 202)
        const answer = yield* post(common(16_400))
        assertRefused(answer, 422, "validation_error")
        assert.deepStrictEqual(errorsOf(answer).map(({ param }) => param), ["variables"])
      }))

    it.effect("missing variables are named ten at a time", () =>
      Effect.gen(function*() {
        const message =
          "must have a value for v0, v1, v2, v3, v4, v5, v6, v7, v8, v9 and 490 more; or write a default into the text, as in {{v0|there}}"
        const answer = yield* post({ html: places(500), recipients: people(500, {}) })
        assertRefused(answer, 422, "validation_error")
        const errors = errorsOf(answer)
        assert.deepStrictEqual([errors.length, errors.at(-1)?.param], [50, "recipients[49].variables"])
        assert.isTrue(errors.every(({ type }) => type === "missing_variable"))
        assert.isTrue(errors.every((error) => error.message === message), errors[0]?.message.slice(0, 200))
        const node = yield* Service
        const { key } = yield* makeAccount()
        const single = { to: "a@people.example", subject: "s", html: places(11) }
        const one = yield* node.request("POST", "/v1/email/send", { key, json: single })
        assertRefused(one, 422, "validation_error")
        assert.strictEqual(errorsOf(one)[0]?.message, message.replace("490", "1"))
      }))
  })
})
