/**
 * Measures the end of a day's history: dropping the partitions of a million ended deliveries and their events, compared
 * with a DELETE of as many rows of another day in the same run. Meanwhile a writer inserts events and deliveries, one
 * transaction at a time. Its figure is the longest insert.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { ulid } from "../../src/platform/crypto/ids.ts"
import { directory, migrate } from "../../src/platform/database/Migrations.ts"
import { dropPartitions, type PartitionedTable } from "../../src/platform/database/Partitions.ts"
import { recreatePartitions } from "../../test/support/partitions.ts"
import { client, startDatabase } from "./support/service.ts"
import { printTable } from "./support/table.ts"

const rows = Number(process.argv[2] ?? 1_000_000)
const tables = ["webhook_deliveries", "events"] as const
/** In days from today. */
const dropped = -40
const deleted = -39

const fill = Effect.fnUntraced(function*(day: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`with dated as (
      select at, 'evt_' || ulid_time(at) || lpad(i::text, 16, '0') as id
      from (select i, date_trunc('day', now(), 'UTC') + ${day}::integer * interval '24 hours'
          + i * (interval '24 hours' / ${rows + 1}::integer) as at
        from generate_series(1, ${rows}::integer) as numbers (i)) as numbered
    ), happened as (
      insert into events (id, account_id, name, body, created_at)
      select id, 1, 'email.sent', convert_to(repeat(id, 10), 'UTF8'), at from dated
    )
    insert into webhook_deliveries (webhook_id, id, event_id, event, status, attempt_count, started_at, duration_ms,
      response_code, response_body, created_at, completed_at)
    select 1 + abs(hashtext(id)) % 100, nextval('webhook_delivery_ids'), id, 'email.sent', 'delivered', 1, at, 20, 200,
      'ok', at, at from dated`
  yield* sql`checkpoint`
})

const insertOne = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const id = `evt_${yield* ulid}`
  yield* sql.withTransaction(Effect.andThen(
    sql`insert into events (id, account_id, name, body) values (${id}, 1, 'email.sent', 'body')`,
    sql`insert into webhook_deliveries (webhook_id, id, event_id, event, status, attempt_count, created_at)
      values (1, nextval('webhook_delivery_ids'), ${id}, 'email.sent', 'delivered', 1, now())`
  ))
})

const millisOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const start = performance.now()
    return Effect.map(effect, () => performance.now() - start)
  })

/** Milliseconds of an effect, and of the longest insert meanwhile. */
const whileWriting = Effect.fnUntraced(function*<A, E, R>(effect: Effect.Effect<A, E, R>) {
  const pauses: Array<number> = []
  let over = false
  yield* Effect.replicateEffect(insertOne, 500, { discard: true })
  const writer = yield* Effect.forkChild(Effect.whileLoop({
    while: () => !over,
    body: () => millisOf(insertOne),
    step: (millis) => void pauses.push(millis)
  }))
  const millis = yield* millisOf(effect)
  over = true
  // The insert in flight counts: it may be the longest.
  yield* Fiber.join(writer)
  return { millis, pause: Math.max(...pauses) }
})

const deleteDay = Effect.fnUntraced(function*(table: PartitionedTable) {
  const sql = yield* SqlClient.SqlClient
  const bounds = sql`select at, at + interval '24 hours' as until
    from (select date_trunc('day', now(), 'UTC') + ${deleted}::integer * interval '24 hours' as at) as days`
  yield* table === "events"
    ? sql`delete from events e using (${bounds}) as d
        where e.id >= 'evt_' || ulid_time(d.at) and e.id < 'evt_' || ulid_time(d.until)`
    : sql`delete from webhook_deliveries h using (${bounds}) as d where h.completed_at >= d.at and h.completed_at < d.until`
})

const measure = Effect.gen(function*() {
  yield* recreatePartitions(dropped, 14)
  yield* fill(dropped)
  yield* fill(deleted)
  const idle = yield* whileWriting(Effect.sleep("3 seconds"))
  const drop = yield* whileWriting(Effect.forEach(tables, (table) => dropPartitions(table, -deleted)))
  const deletion = yield* whileWriting(Effect.forEach(tables, deleteDay))
  yield* printTable(`retention: a day of ${rows.toLocaleString("en-US")} deliveries and as many events`, [{
    metric: "dropping the day, ms",
    value: drop.millis,
    limit: { name: "DELETE of as many rows", value: deletion.millis }
  }, {
    metric: "longest insert meanwhile, ms",
    value: drop.pause,
    limit: { name: "the longest of 3 seconds in which nothing is dropped", value: idle.pause }
  }, {
    metric: "longest insert meanwhile, ms",
    value: drop.pause,
    limit: { name: "the longest during the DELETE", value: deletion.pause }
  }])
})

const bench = Effect.gen(function*() {
  const database = yield* startDatabase
  yield* migrate(directory).pipe(Effect.andThen(measure), Effect.provide(client(database)))
})

NodeRuntime.runMain(Effect.scoped(bench).pipe(Effect.provide(NodeServices.layer)))
