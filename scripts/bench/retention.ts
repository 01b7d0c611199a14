/**
 * Measures the end of a day. First of a day's messages: ten million are spread over thirty days, and pruning deletes the
 * oldest day's in portions, compared with one DELETE of the next day's. Then of a day's webhook history: dropping the
 * partitions of a million ended deliveries and their events, compared with a DELETE of as many rows of another day in
 * the same run. Meanwhile a writer inserts events and deliveries, one transaction at a time, and messages with their
 * outcomes. Its figure is the longest of these transactions.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConfigProvider, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { prune } from "../../src/app/server/Pruning.ts"
import { AppConfig } from "../../src/platform/config/AppConfig.ts"
import { ulid } from "../../src/platform/crypto/ids.ts"
import { directory, migrate } from "../../src/platform/database/Migrations.ts"
import { dropPartitions, type PartitionedTable } from "../../src/platform/database/Partitions.ts"
import { recreatePartitions } from "../../test/support/partitions.ts"
import { client, startDatabase } from "./support/service.ts"
import { printTable } from "./support/table.ts"

const rows = Number(process.argv[2] ?? 1_000_000)
const messages = Number(process.argv[3] ?? 10_000_000)
const messageDays = 30
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

const insertDelivery = Effect.gen(function*() {
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

/** A message from its acceptance to its outcome. */
const sendOne = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`insert into email_messages (account_id, recipient, status, due_at)
    values (1, 'someone@people.example', 'queued', now()) returning id`
  yield* sql`update email_messages set status = 'sending' where id = ${Number(row?.["id"])}`
  yield* sql`update email_messages set status = 'sent', sent_at = now(), completed_at = now(), due_at = null
    where id = ${Number(row?.["id"])}`
})

/** Milliseconds of an effect, and of the longest write meanwhile. */
const whileWriting = Effect.fnUntraced(function*<A, E, R>(
  effect: Effect.Effect<A, E, R>,
  insertOne: typeof insertDelivery = insertDelivery
) {
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

/** The messages of thirty days, each with the mark of its end. */
const fillMessages = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into accounts (id, name, email, plan) overriding system value
    values (1, 'Bench', 'bench@bench.example', 'enterprise')`
  yield* sql`delete from retention_marks`
  for (let day = messageDays; day > 0; day--) {
    yield* sql`insert into email_messages (account_id, recipient, variables, status, subject, sent_at, completed_at, created_at)
      select 1, 'someone' || n || '@people.example', '{"name": "Someone"}', 'sent', 'Hello', at, at, at
      from generate_series(1, ${Math.floor(messages / messageDays)}::integer) as n,
        (values (now() - ${day}::integer * interval '1 day' + interval '12 hours')) as t (at)`
    yield* sql`insert into retention_marks (at, email_messages, messages)
      select now() - ${day}::integer * interval '1 day' + interval '12 hours', max(id), 0 from email_messages`
  }
  yield* sql`vacuum analyze email_messages`.unprepared
  yield* sql`checkpoint`
})

/** The settings by which only the oldest day's messages have expired. */
const Settings = AppConfig.layer.pipe(
  Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({
    MESSAGE_RETENTION_DAYS: String(messageDays - 1),
    CONTENT_RETENTION_DAYS: String(messageDays - 1)
  })))
)

const measureMessages = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* fillMessages
  const perDay = Math.floor(messages / messageDays)
  const idle = yield* whileWriting(Effect.sleep("3 seconds"), sendOne)
  const pruning = yield* whileWriting(Effect.provide(prune, Settings), sendOne)
  const [left] = yield* sql`select count(*)::integer as left from email_messages
    where id <= (select min(email_messages) from retention_marks)`
  if (left?.["left"] !== 0) return yield* Effect.die(`pruning left ${String(left?.["left"])} messages`)
  const deletion = yield* whileWriting(
    sql`delete from email_messages where id <= (select min(email_messages) + ${perDay}::integer from retention_marks)`,
    sendOne
  )
  yield* printTable(`retention: ${messages.toLocaleString("en-US")} messages, of which a day's expire`, [{
    metric: `deleting ${perDay.toLocaleString("en-US")} messages in portions, ms`,
    value: pruning.millis,
    limit: { name: "one DELETE of as many", value: deletion.millis }
  }, {
    metric: "longest message meanwhile, ms",
    value: pruning.pause,
    limit: { name: "the longest of 3 seconds in which nothing is deleted", value: idle.pause }
  }, {
    metric: "longest message meanwhile, ms",
    value: pruning.pause,
    limit: { name: "the longest during the one DELETE", value: deletion.pause }
  }])
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
  yield* migrate(directory).pipe(
    Effect.andThen(measureMessages),
    Effect.andThen(measure),
    Effect.provide(client(database))
  )
})

NodeRuntime.runMain(Effect.scoped(bench).pipe(Effect.provide(NodeServices.layer)))
