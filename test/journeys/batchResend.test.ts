import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { assertRefused } from "../contract/contract.ts"
import { textsFor } from "../support/codes.ts"
import { eventually, live, makeAccount, Service } from "../support/Service.ts"
import { freshNumber } from "../support/sms.ts"

/** A batch of two recipients that has ended, and what was sent to each. */
const batchOf = Effect.fnUntraced(function*(channel: "email" | "sms") {
  const node = yield* Service
  const { key } = yield* makeAccount()
  const [ann, bob] = channel === "email"
    ? [`ann${freshNumber()}@people.example`, `bob${freshNumber()}@people.example`]
    : [freshNumber(), freshNumber()]
  const text = channel === "email" ? { subject: "For {{name}}", text: "Hello {{name}}" } : { content: "Hello {{name}}" }
  const answer = yield* node.request("POST", `/v1/${channel}/send-bulk`, {
    key,
    json: {
      ...text,
      tags: ["news"],
      recipients: [{ to: ann, variables: { name: "Ann" } }, { to: bob, variables: { name: "Bob" } }]
    }
  })
  const id = String(answer.at("data", "batch_id"))
  const path = `/v1/${channel}/batches/${id}`
  yield* eventually(node.request("GET", path, { key }), ({ at }) => typeof at("data", "completed_at") === "string")
  return { node, key, id, path, ann, bob, resend: node.request("POST", `${path}/resend`, { key }) }
})

layer(Service.layer({ env: { SMS_SENDER_IDS: "Shop,Bank" } }), { excludeTestServices: true })(
  "a batch that is sent again",
  (it) => {
    for (const channel of ["email", "sms"] as const) {
      it.effect(`goes by ${channel} to the recipients that it did not reach, with their own values, and only once`, () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const { ann, bob, id, key, node, path, resend } = yield* batchOf(channel)
          assertRefused(yield* resend, 422, "validation_error")
          const table = channel === "email" ? "email_messages" : "messages"
          yield* sql`update ${sql(table)} set status = 'failed' where batch_id = ${id} and recipient = ${ann}`
          const [first, second] = yield* Effect.all([resend, resend], { concurrency: 2 })
          assert.strictEqual(first.status, 202, first.text)
          const next = String(first.at("data", "batch_id"))
          assert.strictEqual(first.headers["location"], `/v1/${channel}/batches/${next}`)
          assert.deepInclude(first.at("data"), { total: 1, tags: ["news"], resent_as: null })
          assert.strictEqual(second.at("data", "batch_id"), next)
          assert.strictEqual((yield* resend).at("data", "batch_id"), next)
          assert.strictEqual((yield* node.request("GET", path, { key })).at("data", "resent_as"), next)
          yield* eventually(
            node.request("GET", `/v1/${channel}/batches/${next}`, { key }),
            ({ at }) => typeof at("data", "completed_at") === "string"
          )
          const texts = yield* textsFor(node, ann, 2)
          assert.deepStrictEqual(texts.map((text) => /Hello \w+/.exec(text)?.[0]), ["Hello Ann", "Hello Ann"])
          assert.strictEqual((yield* textsFor(node, bob)).length, 1)
        }))

      it.effect(`is refused by ${channel} once its texts are no longer kept`, () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const { id, resend } = yield* batchOf(channel)
          const table = channel === "email" ? "email_messages" : "messages"
          yield* sql`update ${sql(table)} set status = 'failed' where batch_id = ${id}`
          yield* channel === "email"
            ? sql`update email_batches set html = '', text = null where id = ${id}`
            : sql`update messages set content = 'null' where batch_id = ${id}`
          const refused = yield* resend
          assertRefused(refused, 422, "validation_error")
          assert.include(refused.text, "no longer kept")
        }))
    }

    it.effect("is refused once its sender id is no longer offered, and the refusal names the batch", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { id, resend } = yield* batchOf("sms")
        yield* sql`update messages set status = 'failed', sender = 'Former' where batch_id = ${id}`
        const refused = yield* resend
        assertRefused(refused, 422, "validation_error")
        assert.strictEqual(refused.at("error", "param"), "batch_id")
        assert.include(refused.text, "no longer offered")
      }))

    it.effect("is refused if one of its numbers is no longer possible, and the refusal names the batch", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { id, resend } = yield* batchOf("sms")
        yield* sql`update messages set status = 'failed', recipient = '+1' where batch_id = ${id}`
        const refused = yield* resend
        assertRefused(refused, 422, "unsupported_destination")
        assert.strictEqual(refused.at("error", "param"), "batch_id")
      }))

    it.effect("is refused while it has not ended", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const send_at = DateTime.formatIso(DateTime.add(yield* live(DateTime.now), { hours: 1 }))
        const json = { subject: "Hi", text: "Hi", recipients: ["ann@people.example"], send_at }
        const answer = yield* node.request("POST", "/v1/email/send-bulk", { key, json })
        const path = `/v1/email/batches/${String(answer.at("data", "batch_id"))}/resend`
        const refused = yield* node.request("POST", path, { key })
        assertRefused(refused, 422, "validation_error")
        assert.include(refused.text, "has not ended")
      }))

    it.effect("is refused a day after its end, although its large HTML is still there and its short text is not", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { key } = yield* makeAccount()
        const json = {
          subject: "Hi",
          html: `<p>${"x".repeat(5_000)}</p>`,
          text: "Hi",
          recipients: ["ann@people.example"]
        }
        const id = String((yield* node.request("POST", "/v1/email/send-bulk", { key, json })).at("data", "batch_id"))
        const path = `/v1/email/batches/${id}`
        yield* eventually(
          node.request("GET", path, { key }),
          ({ at }) => typeof at("data", "completed_at") === "string"
        )
        yield* sql`update email_messages set status = 'failed' where batch_id = ${id}`
        yield* sql`update email_batches set text = null, completed_at = now() - interval '25 hours' where id = ${id}`
        const refused = yield* node.request("POST", `${path}/resend`, { key })
        assertRefused(refused, 422, "validation_error")
        assert.include(refused.text, "no longer kept")
        yield* sql`update email_batches set completed_at = now() - interval '23 hours', subject = '' where id = ${id}`
        assertRefused(yield* node.request("POST", `${path}/resend`, { key }), 422, "validation_error")
        yield* sql`update email_batches set subject = 'Hi' where id = ${id}`
        assert.strictEqual((yield* node.request("POST", `${path}/resend`, { key })).status, 202)
      }))
  }
)
