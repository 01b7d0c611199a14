/** The numbers of messages, from the writers of outcomes to the endpoint. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { assertRefused } from "../contract/contract.ts"
import { eventually, makeAccount, Service } from "../support/Service.ts"
import { longer } from "../support/waiting.ts"

layer(Service.layer(), { excludeTestServices: true })("statistics", (it) => {
  const countsOf = (key: string, query = "") =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const answer = yield* request("GET", `/v1/account/stats${query}`, { key })
      assert.strictEqual(answer.status, 200, answer.text)
      const counts: Record<string, number> = {}
      for (const row of answer.at("data") as ReadonlyArray<Readonly<Record<string, unknown>>>) {
        const name = `${row["channel"]} ${row["outcome"]} ${row["reason"]}`.trim()
        // The hour may have changed meanwhile.
        counts[name] = (counts[name] ?? 0) + Number(row["count"])
      }
      return counts
    })

  it.effect(
    "every message is counted once for each of its outcomes, also without a webhook, and stays so when counts move",
    () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { key } = yield* makeAccount()
        const other = yield* makeAccount()
        const bulk = {
          recipients: ["ada@example.com", "bounce@example.com", "gone@example.com"],
          subject: "Hello",
          html: "<p>Hello</p>"
        }
        yield* request("POST", "/v1/email/suppressions", { key, json: { email: "gone@example.com" } })
        yield* request("POST", "/v1/email/send", {
          key,
          json: { to: "ada@example.com", subject: "Hello", text: "Hello" }
        })
        yield* request("POST", "/v1/email/send-bulk", { key, json: bulk })
        yield* request("POST", "/v1/sms/send", { key, json: { to: "+250788123456", content: "Hello" } })
        const wanted = {
          "email accepted": 3,
          "email sent": 2,
          "email suppressed": 1,
          "email failed bounced_hard": 1,
          "sms accepted": 1,
          "sms sent": 1,
          "sms delivered": 1
        }
        const isWhole = (counts: Readonly<Record<string, unknown>>) =>
          Object.entries(wanted).every(([name, count]) => counts[name] === count)
        yield* eventually(countsOf(key), isWhole)
        const entries = Effect.orDie(sql`select 1 from message_stat_entries`)
        yield* eventually(entries, (rows) => rows.length === 0, longer.turn)
        assert.deepStrictEqual(yield* countsOf(key, "?granularity=day&timezone=Africa/Kigali"), wanted)
        assert.deepStrictEqual(Object.keys(yield* countsOf(key, "?channel=sms")).length, 3)
        assert.deepStrictEqual(yield* countsOf(other.key), {})
      })
  )

  it.effect("a time that ends before it begins, or is too long, is refused at its parameter", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      const ask = (query: string) => request("GET", `/v1/account/stats?${query}`, { key })
      const reversed = yield* ask("from_date=2026-05-02T00:00:00Z&to_date=2026-05-01T00:00:00Z")
      assert.deepStrictEqual([reversed.status, reversed.at("error", "errors", 0, "param")], [422, "to_date"])
      const long = yield* ask("from_date=2026-01-01T00:00:00Z&to_date=2026-05-01T00:00:00Z")
      assert.deepStrictEqual([long.status, long.at("error", "errors", 0, "param")], [422, "from_date"])
    }))

  it.effect("figures are given at the ends of the calendar, and refused beyond them", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      for (const path of ["/v1/account/stats", "/v1/verify/statistics"]) {
        const first = yield* request("GET", `${path}?to_date=0001-01-01T00:00:00Z`, { key })
        assert.strictEqual(first.status, 200, first.text)
        const last = yield* request("GET", `${path}?from_date=9999-12-31T20:00:00Z&to_date=9999-12-31T23:00:00Z`, {
          key
        })
        assert.strictEqual(last.status, 200, last.text)
        const beyond = yield* request("GET", `${path}?to_date=9999-12-31T23:00:00-15:00`, { key })
        assertRefused(beyond, 422, "validation_error")
      }
    }))

  it.effect("a webhook that becomes unhealthy is the first thing that needs attention", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { key } = yield* makeAccount()
      const attention = request("GET", "/v1/account/attention", { key })
      assert.deepStrictEqual((yield* attention).at("data"), [])
      const json = { url: "http://127.0.0.1:14999/hook", events: ["*"] }
      const id = (yield* request("POST", "/v1/webhooks", { key, json })).at("data", "id")
      yield* Effect.orDie(
        sql`update webhooks set unhealthy_reason = 'gone', failing_since = now() where id = ${Number(id)}`
      )
      const answer = yield* attention
      assert.deepStrictEqual(
        [answer.at("data", 0, "code"), answer.at("data", 0, "severity"), answer.at("data", 0, "subject", "id")],
        ["webhook_unhealthy", "bad", id]
      )
    }))
})
