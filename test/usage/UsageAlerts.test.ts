import { assert, layer } from "@effect/vitest"
import { ConfigProvider, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Notices } from "../../src/accounts/notices/Notices.ts"
import { AppConfig } from "../../src/platform/config/AppConfig.ts"
import { Quotas } from "../../src/usage/Quotas.ts"
import { Usage } from "../../src/usage/Usage.ts"
import { UsageAlerts } from "../../src/usage/UsageAlerts.ts"
import type { AccountId } from "../../src/values/Ids.ts"
import { makeAccount } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { noEvents } from "../support/testEvents.ts"

const subject = (env: Readonly<Record<string, string>>) =>
  UsageAlerts.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(Quotas.layer, Usage.layer, Notices.layer, noEvents)),
    Layer.provide(AppConfig.layer),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(env))),
    Layer.provideMerge(TestDatabase.layer)
  )

const told = Effect.fnUntraced(function*(accountId: AccountId) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`select kind, subject from notices where account_id = ${accountId} order by id`
  return rows.map(({ kind, subject }) => `${String(kind)}: ${String(subject)}`)
})

const claimed = Effect.flatMap(
  Notices,
  (notices) => notices.claimOldest({ inFlight: [], domain: "example.com", maxAttempts: 10 }, [100, 100])
)

const unwanted = Effect.fnUntraced(function*(accountId: AccountId) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`select kind from notices where account_id = ${accountId} and status = 'unwanted' order by id`
  return rows.map(({ kind }) => String(kind))
})

layer(subject({}))("usage alerts", (it) => {
  it.effect("an owner gets one notice at 80 and one at 100 percent of a month's quota, however many nodes check", () =>
    Effect.gen(function*() {
      const { alert } = yield* UsageAlerts
      const quotas = yield* Quotas
      const { accountId } = yield* makeAccount({ plan: "starter" })
      const look = Effect.all([alert, alert, alert], { concurrency: "unbounded" })
      yield* quotas.reserve(accountId, "sms", 79)
      yield* look
      assert.deepStrictEqual(yield* told(accountId), [])
      yield* quotas.reserve(accountId, "sms", 1)
      yield* look
      const warning = "quota_warning: 80 percent of this month's SMS are used"
      assert.deepStrictEqual(yield* told(accountId), [warning])
      yield* quotas.reserve(accountId, "sms", 20)
      yield* look
      yield* look
      assert.deepStrictEqual(yield* told(accountId), [warning, "quota_reached: This month's SMS are used up"])
    }))

  it.effect("an owner whose usage passes both thresholds at once gets only the second notice", () =>
    Effect.gen(function*() {
      const { alert } = yield* UsageAlerts
      const quotas = yield* Quotas
      const { accountId } = yield* makeAccount({ plan: "starter" })
      yield* quotas.reserve(accountId, "email", 5000)
      yield* alert
      yield* alert
      assert.deepStrictEqual(yield* told(accountId), ["quota_reached: This month's emails are used up"])
    }))

  it.effect("both notices come again if the plan's limit rises within the month, and not if it falls", () =>
    Effect.gen(function*() {
      const { alert } = yield* UsageAlerts
      const quotas = yield* Quotas
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount({ plan: "starter" })
      const onPlan = (plan: string) => sql`update accounts set plan = ${plan} where id = ${accountId}`
      const reached = "quota_reached: This month's emails are used up"
      yield* quotas.reserve(accountId, "email", 5000)
      yield* alert
      yield* onPlan("growth")
      yield* alert
      assert.deepStrictEqual(yield* told(accountId), [reached])
      yield* quotas.reserve(accountId, "email", 15_000)
      yield* alert
      yield* alert
      const warning = "quota_warning: 80 percent of this month's emails are used"
      assert.deepStrictEqual(yield* told(accountId), [reached, warning])
      yield* onPlan("starter")
      yield* alert
      yield* onPlan("growth")
      yield* quotas.reserve(accountId, "email", 5000)
      yield* alert
      yield* alert
      assert.deepStrictEqual(yield* told(accountId), [reached, warning, reached])
    }))

  it.effect("usage alerts start again each month", () =>
    Effect.gen(function*() {
      const { alert } = yield* UsageAlerts
      const quotas = yield* Quotas
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount({ plan: "starter" })
      yield* quotas.reserve(accountId, "otp", 200)
      yield* alert
      yield* sql`update usage_daily set day = day - 40 where account_id = ${accountId}`
      yield* sql`update usage_alerts set month = month - interval '1 month' where account_id = ${accountId}`
      yield* alert
      assert.strictEqual((yield* told(accountId)).length, 1)
      yield* quotas.reserve(accountId, "otp", 200)
      yield* alert
      assert.strictEqual((yield* told(accountId)).length, 2)
    }))

  it.effect("an owner gets one notice a month about high volume, and sending continues", () =>
    Effect.gen(function*() {
      const { alert } = yield* UsageAlerts
      const quotas = yield* Quotas
      const { accountId } = yield* makeAccount({ plan: "enterprise" })
      yield* quotas.reserve(accountId, "sms", 100_000)
      yield* alert
      assert.deepStrictEqual(yield* told(accountId), [])
      yield* quotas.reserve(accountId, "sms", 1)
      yield* alert
      yield* alert
      assert.deepStrictEqual(yield* told(accountId), ["high_volume: Your account qualifies for volume pricing"])
      yield* quotas.reserve(accountId, "sms", 1)
    }))

  it.effect("an owner who switches alerts off before a notice is due does not receive it", () =>
    Effect.gen(function*() {
      const { alert } = yield* UsageAlerts
      const quotas = yield* Quotas
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount({ plan: "starter" })
      yield* quotas.reserve(accountId, "sms", 90)
      yield* alert
      yield* quotas.reserve(accountId, "sms", 10)
      yield* alert
      yield* sql`update accounts set usage_warnings = false where id = ${accountId}`
      const mine = (yield* claimed).filter(({ account_id }) => account_id === accountId)
      assert.deepStrictEqual(mine.map(({ subject }) => subject), ["This month's SMS are used up"])
      assert.deepStrictEqual(yield* unwanted(accountId), ["quota_warning"])
    }))
})

/** Moves the last digest of an account back by this many weeks. */
const weeksAgo = Effect.fnUntraced(function*(accountId: AccountId, weeks: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`update accounts set weekly_digest = true, digest_week =
      date_trunc('week', least((now() at time zone timezone) - interval '8 hours', now() at time zone 'UTC'))::date
        - ${weeks * 7}::integer
    where id = ${accountId}`
})

layer(subject({}))("the weekly digest", (it) => {
  it.effect("the weekly digest reports Monday to Sunday once, for the week that has ended in the account's timezone", () =>
    Effect.gen(function*() {
      const { digest } = yield* UsageAlerts
      const sql = yield* SqlClient.SqlClient
      for (const timezone of ["Pacific/Auckland", "America/Los_Angeles"]) {
        const { accountId } = yield* makeAccount()
        yield* sql`update accounts set timezone = ${timezone} where id = ${accountId}`
        yield* weeksAgo(accountId, 1)
        const monday = sql`(select digest_week + 7 from accounts where id = ${accountId})`
        for (const [ago, count] of [[8, 1_000_000], [7, 1000], [1, 234], [0, 5_000_000]] as const) {
          yield* sql`insert into usage_daily (account_id, day, metric, slot, count, cost_micros)
            values (${accountId}, ${monday} - ${ago}::integer, 'email', 0, ${count}, 0)`
        }
        yield* sql`insert into usage_daily (account_id, day, metric, slot, count, cost_micros)
          values (${accountId}, ${monday} - 1, 'otp', 0, 1, 0)`
        yield* Effect.all([digest, digest], { concurrency: "unbounded" })
        yield* digest
        const rows = yield* sql`select subject, body from notices where account_id = ${accountId}`
        assert.strictEqual(rows.length, 1)
        assert.include(String(rows[0]?.["body"]), "\n1,234 emails\n1 one-time code\n")
      }
    }))

  it.effect("the weekly digest is not sent to owners who have disabled it, have just enabled it, or have used nothing", () =>
    Effect.gen(function*() {
      const { digest } = yield* UsageAlerts
      const usage = yield* Usage
      const sql = yield* SqlClient.SqlClient
      const [silent, fresh, idle] = [yield* makeAccount(), yield* makeAccount(), yield* makeAccount()]
      for (const { accountId } of [silent, fresh]) {
        yield* usage.count([{ accountId, metric: "whatsapp", count: 3 }])
        yield* sql`update usage_daily set day = day - 7 where account_id = ${accountId}`
      }
      yield* sql`update accounts set weekly_digest = true where id = ${fresh.accountId}`
      yield* weeksAgo(idle.accountId, 1)
      yield* digest
      for (const { accountId } of [silent, fresh, idle]) assert.deepStrictEqual(yield* told(accountId), [])
    }))
})

layer(subject({ HIGH_VOLUME_SMS: "5" }))("HIGH_VOLUME_SMS", (it) => {
  it.effect("is the number of SMS in a month above which the owner gets the notice about volume pricing", () =>
    Effect.gen(function*() {
      const { alert } = yield* UsageAlerts
      const quotas = yield* Quotas
      const { accountId } = yield* makeAccount({ plan: "enterprise" })
      yield* quotas.reserve(accountId, "sms", 5)
      yield* alert
      assert.deepStrictEqual(yield* told(accountId), [])
      yield* quotas.reserve(accountId, "sms", 1)
      yield* alert
      assert.lengthOf(yield* told(accountId), 1)
    }))
})
