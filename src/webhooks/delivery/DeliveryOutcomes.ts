import { Context, Duration, Effect, type Exit, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { group } from "../../platform/database/coalesce.ts"
import { column } from "../../platform/database/column.ts"
import { retryWhileUnavailable } from "../../platform/database/retryWhileUnavailable.ts"
import { transaction } from "../../platform/database/transaction.ts"
import { type DeliveryId, WebhookId } from "../../values/Ids.ts"
import { UnhealthyNotifier } from "../endpoint/UnhealthyNotifier.ts"
import { UnhealthyReason } from "../endpoint/Webhook.ts"
import { isFinal, type Transition } from "./DeliveryState.ts"
import { type HealthChange, healthChanges } from "./WebhookHealth.ts"

/** What one attempt came to, ready to be written down. */
export interface AttemptRecord {
  readonly webhookId: WebhookId
  readonly deliveryId: DeliveryId
  /** In Unix milliseconds. */
  readonly startedAt: number
  readonly durationMs: number
  readonly responseBody: Uint8Array | null
  /** What the endpoint asked for; recorded, and the schedule stays as it is (spec 6.6). */
  readonly retryAfter: string | null
  readonly transition: Transition
}

/**
 * Ends deliveries, or queues them for their next attempt. A row is changed only while it is at the attempt that was
 * expected, so a second owner's late outcome changes nothing.
 */
const settleStatement = (sql: SqlClient.SqlClient, records: ReadonlyArray<AttemptRecord>) => {
  const of = <A>(read: (record: AttemptRecord) => A) => records.map(read)
  const delays = of(({ transition: { next_delay } }) => next_delay === undefined ? null : Duration.toMillis(next_delay))
  return sql`outcome as materialized (
      select webhook_id, id, status, attempt, delay, code, error, duration, is_final,
        to_timestamp(started / 1000) as started_at, response_body, retry_after
      from unnest(${column.int8(of((r) => r.webhookId))}, ${column.int8(of((r) => r.deliveryId))},
        ${column.text(of((r) => r.transition.status))}, ${column.int4(of((r) => r.transition.attempt_count))},
        ${column.float8(delays)}, ${column.int4(of((r) => r.transition.response_code))},
        ${column.text(of((r) => r.transition.error))}, ${column.int4(of((r) => r.durationMs))},
        ${column.bool(of((r) => isFinal(r.transition.status)))}, ${column.float8(of((r) => r.startedAt))},
        ${column.bytea(of((r) => r.responseBody))},
        ${column.text(of((r) => r.retryAfter))})
        as t (webhook_id, id, status, attempt, delay, code, error, duration, is_final, started, response_body, retry_after)
    ), found as materialized (
      -- One look for each index that leads to rows in an actor's hands. The limit has each row looked up by itself: as
      -- a join it may be planned as one of all that is taken.
      select o.*, q.row from outcome o cross join lateral (
        select ctid as row from webhook_queue q where q.webhook_id = o.webhook_id and q.id = o.id
          and q.status = 'taken' and q.attempt_count = o.attempt - 1
        union all select ctid as row from webhook_queue q where q.webhook_id = o.webhook_id and q.id = o.id
          and q.status = 'pending' and q.attempt_count = o.attempt - 1 limit 1) q
    ), ended as (
      delete from webhook_queue q using found o where q.ctid = o.row and o.is_final
      returning q.webhook_id, q.id, q.event_id, q.event, o.status, q.is_test, o.attempt, q.attempts, o.started_at,
        o.duration, o.code, o.error, o.response_body, o.retry_after, q.created_at
    ), history as (
      insert into webhook_deliveries (webhook_id, id, event_id, event, status, is_test, attempt_count, attempts,
        started_at, duration_ms, response_code, error, response_body, retry_after, created_at)
      select * from ended
    ), again as (
      update webhook_queue q set status = 'retrying', attempt_count = o.attempt,
        due_at = now() + o.delay * interval '1 millisecond',
        attempts = q.attempts || jsonb_build_object('attempt', o.attempt,
          'started_at', to_char(o.started_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
          'duration_ms', o.duration, 'response_code', o.code, 'error', o.error,
          'response_body', translate(encode(o.response_body, 'base64'), chr(10), ''), 'retry_after', o.retry_after)
      from found o where q.ctid = o.row and not o.is_final
    )`
}

/** Who turned unhealthy. */
const Fallen = Schema.Array(Schema.Struct({ id: WebhookId, reason: UnhealthyReason }))

/** One writer for the outcomes of a node: what many actors learn at the same time is one statement. */
export class DeliveryOutcomes extends Context.Service<DeliveryOutcomes, {
  /** Calls `done` when the outcome is committed, however long the database is away; a failure says that it never will. */
  readonly record: (record: AttemptRecord, done: (exit: Exit.Exit<void>) => void) => void
}>()("messaging-service/webhooks/delivery/DeliveryOutcomes") {
  static readonly layer = Layer.effect(
    DeliveryOutcomes,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { webhookUnhealthyFailures, webhookUnhealthySeconds } = yield* AppConfig
      const alarm = yield* UnhealthyNotifier

      /** Successes alone, which is nearly always: a count that stands is set back. */
      const writeSuccesses = (records: ReadonlyArray<AttemptRecord>, ids: ReadonlyArray<WebhookId>) =>
        sql`with ${settleStatement(sql, records)}
          update webhooks set failure_count = 0, failing_since = null
          where id = any(${column.int8(ids)}) and failure_count > 0`

      const writeAll = (records: ReadonlyArray<AttemptRecord>, changes: ReadonlyArray<HealthChange>) =>
        sql`with ${settleStatement(sql, records)}, concerned as (
            -- Locked in one order by everybody, so that groups written at the same time cannot deadlock. Only where
            -- rows have ended: a group whose commit was lost to sight is written again, and must not count again.
            select w.id, w.is_active, h.exhausted, h.gone, w.unhealthy_reason as before,
              case when h.succeeded then 0 else w.failure_count end + h.exhausted as count,
              case when h.exhausted = 0 then null when h.succeeded then now() else coalesce(w.failing_since, now()) end
                as since
            from webhooks w
            join unnest(${column.int8(changes.map(({ id }) => id))},
              ${column.bool(changes.map(({ succeeded }) => succeeded))},
              ${column.int4(changes.map(({ exhausted }) => exhausted))},
              ${column.bool(changes.map(({ gone }) => gone))}) as h (id, succeeded, exhausted, gone) on w.id = h.id
            where w.id in (select webhook_id from ended)
            order by w.id for update of w
          ), judged as (
            select *, case when not is_active then before
              when before is distinct from 'backlog_full' and before is not null then before
              when gone then 'gone'
              when count >= ${webhookUnhealthyFailures}
                and since <= now() - ${webhookUnhealthySeconds} * interval '1 second' then 'failing'
              else before end as after
            from concerned
          ), updated as (
            update webhooks w set failure_count = j.count, failing_since = j.since, unhealthy_reason = j.after
            from judged j where w.id = j.id
          )
          select id, after as reason from judged where after is distinct from before`.pipe(
          Effect.flatMap(Schema.decodeUnknownEffect(Fallen))
        )

      const write = Effect.fnUntraced(function*(records: ReadonlyArray<AttemptRecord>) {
        const changes = healthChanges(records)
        if (changes.every(({ exhausted }) => exhausted === 0)) {
          yield* writeSuccesses(records, changes.map(({ id }) => id))
          return
        }
        yield* transaction(
          Effect.flatMap(writeAll(records, changes), Effect.forEach((fallen) => alarm.raise(fallen), { discard: true }))
        )
      }, Effect.orDie)

      const record = yield* group({
        most: 100,
        concurrency: 1,
        run: (records: ReadonlyArray<AttemptRecord>) =>
          Effect.as(retryWhileUnavailable(write(records)), Array.from(records, () => undefined)).pipe(
            Effect.provideService(SqlClient.SqlClient, sql)
          )
      })
      return DeliveryOutcomes.of({ record })
    })
  )
}
