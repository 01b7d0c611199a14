import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Notices } from "../../src/accounts/notices/Notices.ts"
import { AppConfig } from "../../src/platform/config/AppConfig.ts"
import { Database } from "../../src/platform/database/Database.ts"
import * as PgCodecs from "../../src/platform/database/PgCodecs.ts"
import { Quotas } from "../../src/usage/Quotas.ts"
import { Usage } from "../../src/usage/Usage.ts"
import { UsageAlerts } from "../../src/usage/UsageAlerts.ts"
import { makeAccount } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { noEvents } from "../support/testEvents.ts"
import { longer } from "../support/waiting.ts"

/** Its one connection finds the function `now` of the test before that of PostgreSQL. */
const Client = Layer.unwrap(
  Effect.map(
    TestDatabase,
    ({ database, host, port, username }) =>
      PgClient.layer({
        database,
        host,
        port,
        username,
        maxConnections: 1,
        connectTimeout: longer.start,
        types: PgCodecs.registry
      })
  )
)

const Subject = UsageAlerts.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Quotas.layer, Usage.layer, Notices.layer, noEvents)),
  Layer.provide(AppConfig.layer),
  Layer.provideMerge(Database.fromClient),
  Layer.provideMerge(Client),
  Layer.provideMerge(TestDatabase.layerConnection)
)

/** An account that had its last digest on Monday, the 23rd of November, and the digests that it has got by a moment. */
const subscriber = Effect.fnUntraced(function*(timezone: string) {
  const sql = yield* SqlClient.SqlClient
  const { digest } = yield* UsageAlerts
  const { accountId } = yield* makeAccount()
  yield* sql`create schema if not exists clock`
  yield* sql`create table if not exists clock.moments (at timestamptz not null)`
  yield* sql`create or replace function clock.now() returns timestamptz language sql stable as
    'select max(at) from clock.moments'`
  yield* sql`set search_path = clock, pg_catalog, public`
  yield* sql`update accounts set weekly_digest = true, digest_week = '2026-11-23', timezone = ${timezone}
    where id = ${accountId}`
  return {
    moveTo: (to: string) => sql`update accounts set timezone = ${to} where id = ${accountId}`,
    use: (day: string, count: number) =>
      sql`insert into usage_daily (account_id, day, metric, slot, count, cost_micros)
        values (${accountId}, ${day}::date, 'email', 0, ${count}, 0)
        on conflict (account_id, day, metric, slot) do update set count = usage_daily.count + excluded.count`,
    digestsAt: Effect.fnUntraced(function*(moment: string) {
      yield* sql`delete from clock.moments`
      yield* sql`insert into clock.moments values (${moment}::timestamptz)`
      yield* digest
      const rows = yield* sql`select body from notices where account_id = ${accountId} order by id`
      return rows.map(({ body }) => String(body).split("\n").slice(0, 3).join(" "))
    })
  }
})

const sentence = (from: string, to: string, count: number) =>
  `From ${from} to ${to} (days in UTC) your account used:  ${count} emails`

layer(Subject)("the time of the weekly digest", (it) => {
  it.effect("is Monday 8 o'clock in the account's timezone", () =>
    Effect.gen(function*() {
      const { digestsAt, use } = yield* subscriber("America/Los_Angeles")
      yield* use("2026-11-29", 100)
      assert.deepStrictEqual(yield* digestsAt("2026-11-30T15:59:00Z"), [])
      assert.deepStrictEqual(yield* digestsAt("2026-11-30T16:00:00Z"), [sentence("2026-11-23", "2026-11-29", 100)])
    }))

  it.effect("is not before the end of Sunday in UTC, whose last hours would be in no digest", () =>
    Effect.gen(function*() {
      const { digestsAt, use } = yield* subscriber("Pacific/Auckland")
      yield* use("2026-11-29", 100)
      assert.deepStrictEqual(yield* digestsAt("2026-11-29T19:30:00Z"), [])
      yield* use("2026-11-29", 20)
      assert.deepStrictEqual(yield* digestsAt("2026-11-30T00:00:00Z"), [sentence("2026-11-23", "2026-11-29", 120)])
    }))

  it.effect("repeats no week when the account moves to the west", () =>
    Effect.gen(function*() {
      const { digestsAt, moveTo, use } = yield* subscriber("Pacific/Auckland")
      yield* use("2026-11-18", 10)
      yield* use("2026-11-25", 20)
      yield* use("2026-12-02", 30)
      const sent = [sentence("2026-11-23", "2026-11-29", 20)]
      assert.deepStrictEqual(yield* digestsAt("2026-11-30T01:00:00Z"), sent)
      yield* moveTo("America/Los_Angeles")
      assert.deepStrictEqual(yield* digestsAt("2026-11-30T02:00:00Z"), sent)
      assert.deepStrictEqual(yield* digestsAt("2026-11-30T17:00:00Z"), sent)
      assert.deepStrictEqual(yield* digestsAt("2026-12-07T17:00:00Z"), [
        ...sent,
        sentence("2026-11-30", "2026-12-06", 30)
      ])
    }))
})
