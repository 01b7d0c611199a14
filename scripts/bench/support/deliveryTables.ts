/**
 * The tables of deliveries, as the benches use them: counts of unended deliveries, a generated backlog, and the
 * statement that claims deliveries of a webhook.
 */
import { Effect } from "effect"
import { SqlClient, Statement } from "effect/sql"
import { column } from "../../../src/platform/database/column.ts"
import { WebhookId } from "../../../src/values/Ids.ts"
import { QueueRepo } from "../../../src/webhooks/delivery/QueueRepo.ts"
import { dataOf } from "./webhookEvent.ts"

interface Explained {
  readonly "QUERY PLAN": ReadonlyArray<{ readonly "Execution Time": number }>
}

const ids = (webhooks: ReadonlyArray<number>) => column.int8(webhooks)

/** Whether any delivery of these webhooks is pending or claimed. */
export const anyUnfinished = (webhooks: ReadonlyArray<number>) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql`select exists (select from webhook_queue where webhook_id = any(${ids(webhooks)})) as busy`
    return row?.["busy"] === true
  })

/** Counts the deliveries of these webhooks that have not ended. */
export const countUnfinished = (webhooks: ReadonlyArray<number>) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql`select count(*)::int as count from webhook_queue where webhook_id = any(${ids(webhooks)})`
    return Number(row?.["count"])
  })

/** Inserts pending deliveries for each of these webhooks, one per event, and updates the statistics. */
export const insertPending = (webhooks: ReadonlyArray<number>, perWebhook: number) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const data = JSON.stringify(dataOf(0))
    yield* sql`with made as (
        select w.id as webhook_id, w.account_id,
          'evt_' || ulid_time(now()) || upper(lpad(to_hex(w.id * 1000000 + n), 16, '0')) as event_id
        from webhooks w, generate_series(1, ${perWebhook}::int) n where w.id = any(${ids(webhooks)})
        order by n, w.id
      ), stored as (
        insert into events (id, account_id, name, body)
        select event_id, account_id, 'email.sent', convert_to('{"id":"' || event_id
          || '","event":"email.sent","timestamp":"2026-01-31T08:05:09.000000Z","data":' || ${data}::text || '}', 'UTF8')
        from made
      )
      insert into webhook_queue (webhook_id, event_id, event, status)
      select webhook_id, event_id, 'email.sent', 'pending' from made`
    yield* Effect.forEach(["events", "webhook_queue"], (table) => sql`vacuum analyze ${sql(table)}`.unprepared)
  })

/**
 * Inserts events that a webhook missed in the last days until an hour ago, with deliveries of which every second one
 * was skipped.
 */
export const insertMissed = Effect.fnUntraced(function*(
  { accountId, webhookId }: { readonly accountId: number; readonly webhookId: number },
  count: number,
  days: number
) {
  const sql = yield* SqlClient.SqlClient
  const data = JSON.stringify(dataOf(0))
  yield* sql`with dated as (
      select n, at, 'evt_' || ulid_time(at) || lpad(n::text, 16, '0') as id from (
        select n, now() - interval '1 hour' - (${count}::integer - n) * (interval '1 day' * ${days}::integer / ${count}::integer)
          as at
        from generate_series(1, ${count}::integer) as n) as numbered
    ), stored as (
      insert into events (id, account_id, name, body, created_at)
      select id, ${accountId}, 'email.sent', convert_to('{"id":"' || id
        || '","event":"email.sent","timestamp":"2026-01-31T08:05:09.000000Z","data":' || ${data}::text || '}', 'UTF8'), at
      from dated
    )
    insert into webhook_deliveries (webhook_id, id, event_id, event, status, attempt_count, error, created_at, completed_at)
    select ${webhookId}, nextval('webhook_delivery_ids'), id, 'email.sent',
      case when n % 2 = 0 then 'skipped' else 'failed' end, case when n % 2 = 0 then 0 else 4 end, 'webhook_unhealthy', at, at
    from dated`
  yield* Effect.forEach(["events", "webhook_deliveries"], (table) => sql`vacuum analyze ${sql(table)}`.unprepared)
  yield* sql`checkpoint`
})

/** Claims a hundred deliveries of a webhook like its actor, and returns their count. */
const claim = Effect.fnUntraced(function*(webhook: number) {
  const repo = yield* QueueRepo
  const claimed = yield* repo.claim({
    webhookId: WebhookId.make(webhook),
    firstAttempts: 100,
    retries: 100,
    inMemory: []
  })
  return claimed.length
})

/** Milliseconds of claiming a hundred deliveries of a webhook, including the commit. */
export const timeClaim = Effect.fnUntraced(function*(webhook: number) {
  const startedAt = performance.now()
  const count = yield* claim(webhook)
  if (count !== 100) return yield* Effect.die(`claimed ${count} deliveries instead of 100`)
  return performance.now() - startedAt
})

/** Milliseconds that PostgreSQL reports for the same statement. */
export const explainClaim = Effect.fnUntraced(function*(webhook: number) {
  const sql = yield* SqlClient.SqlClient
  const seen: Array<readonly [text: string, parameters: ReadonlyArray<unknown>]> = []
  // Captures the statement of the repository and rolls back, so that the explained statement claims the same rows.
  const keep: Statement.Transformer = (statement) =>
    Effect.sync(() => {
      seen.push(statement.compile())
      return statement
    })
  yield* sql.withTransaction(
    Effect.andThen(Effect.provideService(claim(webhook), Statement.CurrentTransformer, keep), Effect.fail("undo"))
  ).pipe(Effect.ignore)
  const [text, parameters] = seen.at(-1) ?? ["", []]
  const explain = sql.unsafe<Explained>(`explain (analyze, format json) ${text}`, parameters)
  const [row] = yield* explain
  return row?.["QUERY PLAN"][0]?.["Execution Time"] ?? 0
})
