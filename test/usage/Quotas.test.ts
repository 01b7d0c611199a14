import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/accounts/Accounts.ts"
import { Audit } from "../../src/accounts/Audit.ts"
import { AppConfig } from "../../src/platform/config/AppConfig.ts"
import { exceeding, Quotas } from "../../src/usage/Quotas.ts"
import { Usage } from "../../src/usage/Usage.ts"
import { AccountId } from "../../src/values/Ids.ts"
import { makeAccount } from "../support/Service.ts"
import { TestDatabase, transaction } from "../support/TestDatabase.ts"

const Subject = Layer.mergeAll(Quotas.layer, Usage.layer, Accounts.layer).pipe(
  Layer.provide([AppConfig.layer, Audit.layer]),
  Layer.provideMerge(TestDatabase.layer)
)

const used = Effect.fnUntraced(function*(accountId: AccountId, metric: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`select coalesce(sum(count), 0) as used from usage_daily
    where account_id = ${accountId} and metric = ${metric}`
  return Number(row?.["used"])
})

/** Moves an account's usage by this many days into the past. */
const ago = Effect.fnUntraced(function*(accountId: AccountId, interval: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`update usage_daily set day = date_trunc('month', now() at time zone 'UTC')::date - ${interval}::interval
    where account_id = ${accountId}`
})

const small = (most: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: most }))

layer(Subject)("Quotas", (it) => {
  it.effect.prop(
    "requests accepted together get the same decisions as one by one, and accounts without a limit do not wait",
    {
      limits: Schema.Tuple([small(10), small(10)]),
      wanted: Schema.Array(Schema.Struct({ account: small(2), count: small(5) }))
    },
    ({ limits, wanted }) =>
      Effect.sync(() => {
        const id = (account: number) => AccountId.make(account + 1)
        const rooms = new Map(limits.map((limit, account) => [id(account), { limit, used: 3 }]))
        const overflow = exceeding(wanted.map(({ account, count }) => ({ accountId: id(account), count })), rooms)
        const used = [3, 3]
        for (const [index, { account, count }] of wanted.entries()) {
          const limit = limits[account] ?? Number.POSITIVE_INFINITY
          const before = used[account] ?? 0
          const fits = before + count <= limit
          assert.deepStrictEqual(overflow[index], fits ? undefined : { limit, used: before })
          if (fits && account < used.length) used[account] = before + count
        }
      })
  )

  it.effect("requests of several accounts accepted together count per account", () =>
    Effect.gen(function*() {
      const quotas = yield* Quotas
      const small = (yield* makeAccount({ plan: "starter" })).accountId
      const large = (yield* makeAccount({ plan: "growth" })).accountId
      const free = (yield* makeAccount({ plan: "enterprise" })).accountId
      const gone = AccountId.make(2_000_000_000)
      yield* quotas.reserve(small, "sms", 98)
      const wanted = [[small, 1], [free, 500], [small, 2], [large, 3], [gone, 1], [small, 1], [free, 1]] as const
      const together = transaction(
        quotas.reserveEach("sms", wanted.map(([accountId, count]) => ({ accountId, count })))
      )
      const refusals = yield* together
      assert.deepStrictEqual(
        refusals.map((refusal) => typeof refusal === "object" ? [refusal.limit, refusal.current] : refusal),
        [
          undefined,
          undefined,
          [100, 99],
          undefined,
          "busy",
          undefined,
          undefined
        ]
      )
      const counts = yield* Effect.forEach([small, large, free, gone], (accountId) => used(accountId, "sms"))
      assert.deepStrictEqual(counts, [100, 3, 501, 0])
      const rounds = yield* Effect.all(Array.from({ length: 20 }, () => together), { concurrency: "unbounded" })
      const taken = rounds.filter((round) => round[3] === undefined).length
      assert.deepStrictEqual(
        [yield* used(small, "sms"), yield* used(large, "sms"), yield* used(free, "sms")],
        [100, 3 + 3 * taken, 501 * 21]
      )
    }))

  it.effect("concurrent requests use exactly the quota, and each use is counted", () =>
    Effect.gen(function*() {
      const quotas = yield* Quotas
      const { accountId } = yield* makeAccount({ plan: "starter" })
      const ask = Effect.result(transaction(quotas.reserve(accountId, "sms", 3)))
      const results = yield* Effect.all(Array.from({ length: 60 }, () => ask), { concurrency: "unbounded" })
      assert.strictEqual(results.filter(({ _tag }) => _tag === "Success").length, 33)
      assert.strictEqual(yield* used(accountId, "sms"), 99)
      const refused = yield* Effect.flip(quotas.reserve(accountId, "sms", 2))
      assert.deepInclude({ ...refused }, { limit: 100, current: 99, resource: "sms", per: "month" })
      yield* quotas.reserve(accountId, "sms", 1)
      assert.strictEqual(yield* used(accountId, "sms"), 100)
    }))

  it.effect("the email quota has a separate error with the used part of the month", () =>
    Effect.gen(function*() {
      const quotas = yield* Quotas
      const { accountId } = yield* makeAccount({ plan: "starter" })
      yield* quotas.reserve(accountId, "email", 4999)
      const refused = yield* Effect.flip(quotas.reserve(accountId, "email", 2))
      assert.strictEqual(refused._tag, "EmailQuotaExceeded")
      assert.deepInclude({ ...refused }, { limit: 5000, current: 4999, resource: "emails" })
    }))

  it.effect("quotas start again each month (UTC)", () =>
    Effect.gen(function*() {
      const quotas = yield* Quotas
      const { accountId } = yield* makeAccount({ plan: "starter" })
      yield* quotas.reserve(accountId, "otp", 200)
      yield* Effect.flip(quotas.reserve(accountId, "otp", 1))
      yield* ago(accountId, "1 day")
      yield* quotas.reserve(accountId, "otp", 200)
      yield* Effect.flip(quotas.reserve(accountId, "otp", 1))
    }))

  it.effect("the Enterprise plan has no quota, counts usage, and later plans apply to it", () =>
    Effect.gen(function*() {
      const quotas = yield* Quotas
      const accounts = yield* Accounts
      const { accountId } = yield* makeAccount({ plan: "enterprise" })
      const ask = transaction(quotas.reserve(accountId, "email", 1000))
      yield* Effect.all(Array.from({ length: 40 }, () => ask), { concurrency: "unbounded" })
      assert.strictEqual(yield* used(accountId, "email"), 40_000)
      yield* accounts.setPlan(accountId, "growth")
      const refused = yield* Effect.flip(quotas.reserve(accountId, "email", 1))
      assert.deepInclude({ ...refused }, { limit: 25_000, current: 40_000 })
    }))

  it.effect("a rolled-back request uses nothing", () =>
    Effect.gen(function*() {
      const quotas = yield* Quotas
      const { accountId } = yield* makeAccount({ plan: "starter" })
      yield* Effect.flip(transaction(Effect.andThen(quotas.reserve(accountId, "sms", 100), Effect.fail("no"))))
      assert.strictEqual(yield* used(accountId, "sms"), 0)
      yield* quotas.reserve(accountId, "sms", 100)
    }))
})
