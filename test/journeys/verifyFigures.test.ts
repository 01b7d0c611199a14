/** How many one-time codes were sent and confirmed, what they cost and how long people took. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { assertRefused } from "../contract/contract.ts"
import { checkCode, codeFor, sendCode, wrong } from "../support/codes.ts"
import { makeAccount, Service } from "../support/Service.ts"
import { freshNumber } from "../support/sms.ts"

const path = "/v1/verify/statistics"

const none = {
  verifications: 0,
  codes_sent: 0,
  pending: 0,
  confirmed: 0,
  expired: 0,
  max_attempts: 0,
  wrong_codes: 0,
  conversion: null,
  cost_usd: 0,
  cost_per_confirmed_usd: null,
  median_seconds: null
}

layer(Service.layer({ env: { OTP_RESEND_SECONDS: "0" } }), { excludeTestServices: true })(
  "figures of one-time codes",
  (it) => {
    it.effect("an account without codes has zeros and no shares", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const { key } = yield* makeAccount()
        const { at, text } = yield* request("GET", path, { key })
        assert.deepStrictEqual(at("data"), { total: none, by_country: [] }, text)
      }))

    it.effect("tells how codes ended, in all and by channel and country, and what a confirmed one cost", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { key } = yield* makeAccount()
        const send = (to: string, channel = "sms") => sendCode(node, { key, json: { to, channel } })
        // Confirmed after a wrong code and a second one, which costs an SMS more.
        const confirmed = freshNumber()
        const { id } = yield* send(confirmed)
        yield* codeFor(node, confirmed)
        yield* send(confirmed)
        const code = yield* codeFor(node, confirmed, 2)
        yield* checkCode(node, { key, json: { id, code: wrong(code) } })
        const right = yield* checkCode(node, { key, json: { id, code } })
        assert.isTrue(right.at("data", "valid"), right.text)
        yield* sql`update verifications set created_at = verified_at - interval '40 seconds' where id = ${id}`
        // Expired, though no node has recorded it yet.
        const expired = yield* send(freshNumber())
        yield* sql`update verifications set expires_at = now(), ended_at = now() where id = ${expired.id}`
        yield* send("+14155552671")
        const mailed = yield* send("ada@people.example", "email")
        yield* sql`update verifications set status = 'max_attempts', attempts = 5, created_at = now() - interval '3 days'
          where id = ${mailed.id}`
        const prices = yield* sql`select code, price_micros::int as micros from sms_prices where code in ('RW', 'US')`
        const priceOf = (country: string) => Number(prices.find((row) => row["code"] === country)?.["micros"]) / 1e6

        const { at, text } = yield* node.request("GET", path, { key })
        const rwanda = {
          ...none,
          verifications: 2,
          codes_sent: 3,
          confirmed: 1,
          expired: 1,
          wrong_codes: 1,
          conversion: 0.5,
          cost_usd: priceOf("RW") * 3,
          cost_per_confirmed_usd: priceOf("RW") * 3,
          median_seconds: 40
        }
        const states = { ...none, verifications: 1, codes_sent: 1, pending: 1, cost_usd: priceOf("US") }
        const mail = { ...none, verifications: 1, codes_sent: 1, max_attempts: 1, wrong_codes: 5, conversion: 0 }
        const parts = at("data", "by_country") as ReadonlyArray<Readonly<Record<string, unknown>>>
        assert.deepStrictEqual(parts[0], { channel: "sms", country: "RW", ...rwanda }, text)
        assert.sameDeepMembers(parts.slice(1), [
          { channel: "sms", country: "US", ...states },
          { channel: "email", country: null, ...mail }
        ])
        assert.deepInclude(at("data", "total"), {
          verifications: 4,
          codes_sent: 5,
          confirmed: 1,
          pending: 1,
          wrong_codes: 6,
          conversion: 1 / 3,
          median_seconds: 40
        })

        const recent = yield* node.request(
          "GET",
          `${path}?from_date=${new Date(Date.now() - 3_600_000).toISOString()}`,
          {
            key
          }
        )
        assert.strictEqual(recent.at("data", "total", "verifications"), 3, recent.text)
        const other = yield* node.request("GET", path, { key: (yield* makeAccount()).key })
        assert.strictEqual(other.at("data", "total", "verifications"), 0)
      }))

    it.effect("refuses a time of more than 31 days, and one that ends before it begins", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const { key } = yield* makeAccount()
        const asked = (from: string, to: string) => request("GET", `${path}?from_date=${from}&to_date=${to}`, { key })
        assertRefused(yield* asked("2026-01-01T00:00:00Z", "2026-02-02T00:00:00Z"), 422, "validation_error")
        assertRefused(yield* asked("2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"), 422, "validation_error")
      }))
  }
)
