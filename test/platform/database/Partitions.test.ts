import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Deferred, Duration, Effect, Exit, Fiber, Layer, Logger, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { retain } from "../../../src/app/server/Retention.ts"
import { AppConfig } from "../../../src/platform/config/AppConfig.ts"
import { Database, DatabaseAddress } from "../../../src/platform/database/Database.ts"
import { createPartitions, dropPartitions, type PartitionedTable } from "../../../src/platform/database/Partitions.ts"
import { recreatePartitions } from "../../support/partitions.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

/** The days with partitions, relative to the database's today (0). */
const daysOf = Effect.fnUntraced(function*(table: PartitionedTable) {
  const sql = yield* SqlClient.SqlClient
  const find = SqlSchema.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ day: Schema.Int }),
    execute: () =>
      sql`select to_date(right(c.relname, 8), 'YYYYMMDD') - (now() at time zone 'UTC')::date as day
        from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = ${table}::text::regclass order by day`
  })
  return (yield* find()).map(({ day }) => day)
})

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index)

/** The database as if it was migrated on one day and last maintained on another. */
const aged = (migrated: number, lastRound: number) => recreatePartitions(migrated, lastRound + 14)

/** One event and one ended delivery on a day relative to today. */
const writeAt = Effect.fnUntraced(function*(day: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into events (id, account_id, name, body)
    values ('evt_' || ulid_time(now() + ${day} * interval '24 hours') || substr(md5(random()::text), 1, 16), 1, 'e', '')`
  yield* sql`insert into webhook_deliveries
      (webhook_id, id, event_id, event, status, attempt_count, created_at, completed_at)
    values (1, 1, 'evt_', 'e', 'delivered', 1, now(), now() + ${day} * interval '24 hours')`
})

const total = Effect.fnUntraced(function*(table: PartitionedTable) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`select count(*) as count from ${sql(table)}`
  return row?.["count"]
})

const round = retain.pipe(
  Effect.provide(AppConfig.layer),
  Effect.provideService(
    ConfigProvider.ConfigProvider,
    ConfigProvider.fromUnknown({ EVENT_RETENTION_DAYS: "2", DELIVERY_RETENTION_DAYS: "5", ATTEMPT_RETENTION_DAYS: "4" })
  )
)

/** As many rounds as it takes until nothing is left to drop. */
const rounds = Effect.repeat(round, { times: 24 })

/** Keeps a table in use until `letGo`. */
const hold = Effect.fnUntraced(function*(table: PartitionedTable) {
  const sql = yield* SqlClient.SqlClient
  const held = yield* Deferred.make<void>()
  const letGo = yield* Deferred.make<void>()
  const holder = yield* Effect.forkChild(sql.withTransaction(Effect.gen(function*() {
    yield* sql`select from ${sql(table)} limit 1`
    yield* Deferred.succeed(held, undefined)
    yield* Deferred.await(letGo)
  })))
  yield* Deferred.await(held)
  return { letGo: Effect.andThen(Deferred.succeed(letGo, undefined), Fiber.join(holder)) }
})

const DatabaseOfNode = Layer.unwrap(
  Effect.map(TestDatabase, ({ url }) =>
    Database.layer.pipe(
      Layer.provide(DatabaseAddress.layer),
      Layer.provide(NodeServices.layer),
      Layer.provide(AppConfig.layer),
      Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ DATABASE_URL: url })))
    ))
)

// The tests' clock is in 1970, so days are the database's.
describe("Partitions", () => {
  it.effect("partitions exist for yesterday and 14 days ahead after a round, whatever the node's clock says", () =>
    Effect.gen(function*() {
      yield* aged(-1, -1)
      yield* round
      assert.deepStrictEqual(yield* daysOf("events"), range(-1, 14))
      assert.deepStrictEqual(yield* daysOf("webhook_deliveries"), range(-1, 14))
      for (const day of [0, 1, 13]) yield* writeAt(day)
      assert.strictEqual(yield* total("events"), 3)
    }).pipe(Effect.provide(TestDatabase.layer)))

  it.effect("a start after a month without nodes creates the missing partitions", () =>
    Effect.gen(function*() {
      yield* aged(-60, -30)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(writeAt(0))))
      yield* Effect.void.pipe(Effect.provide(DatabaseOfNode))
      assert.deepStrictEqual(yield* daysOf("events"), [...range(-60, -16), -1, 0, 1])
      yield* writeAt(0)
      yield* writeAt(1)
      yield* rounds
      assert.deepStrictEqual(yield* daysOf("webhook_deliveries"), range(-1, 14))
      assert.strictEqual(yield* total("webhook_deliveries"), 2)
    }).pipe(Effect.provide(TestDatabase.layer)))

  it.effect("partitions are dropped as many days after their end as the settings say, and not before", () =>
    Effect.gen(function*() {
      yield* aged(-10, -1)
      for (const day of range(-10, 0)) yield* writeAt(day)
      yield* rounds
      assert.deepStrictEqual(yield* daysOf("events"), range(-2, 14))
      assert.deepStrictEqual(yield* daysOf("webhook_deliveries"), range(-5, 14))
      assert.deepStrictEqual(yield* daysOf("message_attempts"), range(-4, 14))
      assert.deepStrictEqual([yield* total("events"), yield* total("webhook_deliveries")], [3, 6])
    }).pipe(Effect.provide(TestDatabase.layer)))

  it.effect("the log of requests has its days by the time in the ids, and keeps seven of them", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* aged(-10, -1)
      yield* sql`insert into request_log (account_id, id, method, path, route, status, duration_ms, ip)
        select 1, uuid_time(now() + day * interval '24 hours'), 'POST', '/', '/', 202, 1, ''
        from generate_series(-10, 0) as day`
      yield* rounds
      assert.deepStrictEqual(yield* daysOf("request_log"), range(-7, 14))
      assert.strictEqual(yield* total("request_log"), 8)
    }).pipe(Effect.provide(TestDatabase.layer)))

  it.effect("expired days are dropped although the next ones cannot be created", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* aged(-10, -1)
      yield* sql`alter function make_day_partitions rename to hidden`
      yield* rounds
      assert.deepStrictEqual((yield* daysOf("events"))[0], -2)
    }).pipe(Effect.provide(TestDatabase.layer)))

  it.effect("one round drops at most two days", () =>
    Effect.gen(function*() {
      yield* aged(-10, -1)
      yield* round
      assert.deepStrictEqual(yield* daysOf("events"), range(-8, 14))
      assert.deepStrictEqual(yield* daysOf("webhook_deliveries"), range(-8, 14))
    }).pipe(Effect.provide(TestDatabase.layer)))

  it.effect("no day is dropped when the database's clock has just leapt a month ahead", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* aged(-35, -30)
      yield* sql`update retention_clock set at = date_trunc('day', now(), 'UTC') - interval '30 days'`
      yield* Effect.repeat(round, { times: 4 })
      assert.deepStrictEqual((yield* daysOf("events")).slice(0, 3), [-32, -31, -30])
      assert.deepStrictEqual((yield* daysOf("webhook_deliveries")).slice(0, 3), [-35, -34, -33])
    }).pipe(Effect.provide(TestDatabase.layer)))

  it.effect("the first partition is dropped together with all older rows when its day is due", () =>
    Effect.gen(function*() {
      // The day before that of the migration, which was yesterday if midnight has passed since.
      const [first = 0] = yield* daysOf("events")
      const sql = yield* SqlClient.SqlClient
      yield* sql`update retention_clock set at = now()`
      yield* writeAt(-300)
      assert.deepStrictEqual(yield* dropPartitions("events", -first), [])
      assert.lengthOf(yield* dropPartitions("events", -first - 1), 1)
      assert.strictEqual(yield* total("events"), 0)
    }).pipe(Effect.provide(TestDatabase.layer)))

  it.effect("a partition stays while its table is locked, which affects neither the other table nor the next round", () =>
    Effect.gen(function*() {
      yield* aged(-7, -1)
      const { letGo } = yield* hold("webhook_deliveries")
      const lines: Array<string> = []
      const logged = Logger.make(({ message }) => void lines.push(String(message)))
      const [duration] = yield* Effect.timed(Effect.provide(round, Logger.layer([logged])))
      assert.include(lines, "dropping old partitions of webhook_deliveries failed")
      assert.isBelow(Duration.toSeconds(duration), 5)
      assert.deepStrictEqual(yield* daysOf("events"), range(-5, 14))
      assert.deepStrictEqual(yield* daysOf("webhook_deliveries"), range(-7, 14))
      const error = yield* Effect.flip(dropPartitions("webhook_deliveries", 5))
      assert.strictEqual(error._tag === "SqlError" ? error.reason._tag : error._tag, "LockTimeoutError")
      yield* letGo
      yield* round
      assert.deepStrictEqual(yield* daysOf("webhook_deliveries"), range(-5, 14))
    }).pipe(Effect.provide(TestDatabase.layer)))

  it.effect("partitions are created during writes, which do not wait", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* aged(-10, -14)
      yield* sql.withTransaction(Effect.gen(function*() {
        yield* writeAt(-3)
        // On another connection, while this transaction stays open.
        yield* createPartitions(14).pipe(Effect.provide(Layer.fresh(TestDatabase.layerClient)))
        yield* writeAt(0)
      }))
      assert.strictEqual(yield* total("events"), 2)
    }).pipe(Effect.provide(TestDatabase.layer)))

  it.effect("concurrent nodes create and drop each partition once", () =>
    Effect.gen(function*() {
      yield* aged(-10, -14)
      yield* Effect.all(
        [...Array.from({ length: 4 }, () => round), ...Array.from({ length: 4 }, () => createPartitions(14))],
        {
          concurrency: "unbounded"
        }
      )
      assert.deepStrictEqual(yield* daysOf("events"), range(-2, 14))
      assert.deepStrictEqual(yield* daysOf("webhook_deliveries"), range(-5, 14))
    }).pipe(Effect.provide(TestDatabase.layer)))

  it.effect("partitions have neither gaps nor overlaps when a session's time zone changes its clocks", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql.withTransaction(Effect.gen(function*() {
        yield* sql`set local timezone = 'Europe/Berlin'`
        for (const first of ["2035-03-20", "2035-10-20"]) {
          yield* sql`select make_day_partitions(${first}::text::date, ${first}::text::date + 14)`
          yield* sql`insert into webhook_deliveries
              (webhook_id, id, event_id, event, status, attempt_count, created_at, completed_at)
            select 1, 1, 'evt_', 'e', 'delivered', 1, now(), (${first} || ' 00:00Z')::timestamptz + hour * interval '1 hour'
            from generate_series(0, 15 * 24 - 1) as hours (hour)`
        }
      }))
      assert.strictEqual(yield* total("webhook_deliveries"), 2 * 15 * 24)
    }).pipe(Effect.provide(TestDatabase.layer)))
})

describe("rows of a removed webhook", () => {
  it.effect("the next round erases late rows of a removed webhook for a day, and no other rows", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const fill = sql`with queued as (
          insert into webhook_queue (webhook_id, event_id, event, status)
          select webhook, 'evt_', 'e', 'pending' from generate_series(1, 2) as a (webhook), generate_series(1, 1500)
        )
        insert into webhook_deliveries (webhook_id, id, event_id, event, status, attempt_count, created_at)
        select webhook, id, 'evt_', 'e', 'delivered', 1, now()
        from generate_series(1, 2) as a (webhook), generate_series(1, 2500) as b (id)`
      const count = (hours: number) =>
        sql`insert into webhook_attempt_counts (webhook_id, hour, duration, succeeded, failed)
          select webhook, now() - ${hours} * interval '1 hour', 1, 1, 0 from generate_series(1, 2) as a (webhook)`
      const left = sql`select 'queue' as kind, webhook_id, count(*) as count from webhook_queue group by 2
        union all select 'history', webhook_id, count(*) from webhook_deliveries group by 2
        union all select 'figures', webhook_id, count(*) from webhook_attempt_counts group by 2 order by 1, 2`
      yield* sql`insert into removed_webhooks (webhook_id, removed_at) values (2, now() - interval '23 hours')`
      for (const times of [1, 2]) {
        yield* fill
        yield* count(times)
        yield* round
        assert.deepStrictEqual(yield* left, [
          { kind: "figures", webhook_id: 1, count: times },
          { kind: "history", webhook_id: 1, count: 2500 * times },
          { kind: "queue", webhook_id: 1, count: 1500 * times }
        ])
      }
      yield* sql`update removed_webhooks set removed_at = now() - interval '25 hours'`
      yield* round
      assert.deepStrictEqual(yield* sql`select webhook_id from removed_webhooks`, [])
    }).pipe(Effect.provide(TestDatabase.layer)))
})
