/** How many of the newest texts were delivered, by country, over HTTP. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eventually, makeAccount, Service } from "../support/Service.ts"
import { freshNumber } from "../support/sms.ts"

const path = "/v1/sms/statistics"

layer(Service.layer({ env: { SANDBOX_SMS_DELAY_MS: "1" } }), { excludeTestServices: true })(
  "the statistics of texts",
  (it) => {
    it.effect("an account without texts has none", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const { key } = yield* makeAccount()
        const { at, text } = yield* request("GET", path, { key })
        assert.deepStrictEqual(at("data"), { messages: 0, since: null, by_country: [] }, text)
      }))

    it.effect("count the account's own texts by country, without canceled ones, and share out what is known", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const sql = yield* SqlClient.SqlClient
        const [{ key }, other] = [yield* makeAccount(), yield* makeAccount()]
        const send = (to: string, of = key) =>
          request("POST", "/v1/sms/send", { key: of, json: { to, content: "Hello" } })
        yield* send(freshNumber(), other.key)
        const ids: Array<unknown> = []
        for (const to of [freshNumber(), freshNumber(), freshNumber(), freshNumber(), freshNumber(), "+14155552671"]) {
          ids.push((yield* send(to)).at("data", "message_id"))
        }
        const [first, failed, canceled, open] = ids
        yield* eventually(request("GET", path, { key }), ({ at }) => at("data", "by_country", 0, "delivered") === 5)
        yield* sql`update messages set status = 'failed' where id = ${Number(failed)}`
        yield* sql`update messages set status = 'canceled' where id = ${Number(canceled)}`
        yield* sql`update messages set status = 'sent' where id = ${Number(open)}`
        const { at, text } = yield* eventually(
          request("GET", path, { key }),
          ({ at: of }) => of("data", "by_country", 1, "delivered") === 1
        )
        const { at: oldest } = yield* request("GET", `/v1/sms/messages/${first}`, { key })
        assert.deepStrictEqual(at("data"), {
          messages: 5,
          since: oldest("data", "created_at"),
          by_country: [
            { country: "RW", delivered: 2, failed: 1, pending: 1, delivery_rate: 2 / 3 },
            { country: "US", delivered: 1, failed: 0, pending: 0, delivery_rate: 1 }
          ]
        }, text)
      }))
  }
)
