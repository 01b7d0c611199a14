import { Context, Duration, Effect, type Exit, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { column } from "../../platform/database/column.ts"
import { Database } from "../../platform/database/Database.ts"
import { retryWhileUnavailable } from "../../platform/database/unavailable.ts"
import { PublicUrl } from "../../platform/http/PublicUrl.ts"
import { GroupCommit } from "../../platform/work/GroupCommit.ts"
import { WebhookId } from "../../values/Ids.ts"
import { receiverPath } from "../endpoint/SandboxReceiver.ts"
import { UnhealthyNotifier } from "../endpoint/UnhealthyNotifier.ts"
import { UnhealthyReason } from "../endpoint/Webhook.ts"
import { recordRecovered } from "../recovery/RecoveryRepo.ts"
import * as AttemptCounts from "./AttemptCounts.ts"
import type { AttemptRecord } from "./DeliveryAttempt.ts"
import { type HealthSign, isFinal } from "./DeliveryState.ts"

/** The effect of a group of outcomes on the health of one webhook. */
interface HealthChange {
  readonly id: WebhookId
  /** Whether any delivery succeeded. */
  readonly succeeded: boolean
  /** How many deliveries used up their attempts after the last success. */
  readonly exhausted: number
  /** Whether one of these met 410 Gone in every attempt. */
  readonly gone: boolean
}

interface Sign {
  readonly webhookId: WebhookId
  readonly transition: { readonly health: HealthSign }
}

/** Sums up the signs of many deliveries, in their order: one change for each webhook whose health they affect. */
export const healthChanges = (signs: ReadonlyArray<Sign>): ReadonlyArray<HealthChange> => {
  const changes = new Map<WebhookId, HealthChange>()
  for (const { transition: { health }, webhookId: id } of signs) {
    if (health === "undecided") continue
    const before = changes.get(id) ?? { id, succeeded: false, exhausted: 0, gone: false }
    changes.set(
      id,
      health === "success"
        ? { id, succeeded: true, exhausted: 0, gone: false }
        : { ...before, exhausted: before.exhausted + 1, gone: before.gone || health === "gone" }
    )
  }
  return [...changes.values()]
}

/** The answer to an attempt that is not the last, for the queue's JSON, which cannot contain NUL characters. */
const textOf = ({ responseBody, transition: { status } }: AttemptRecord) =>
  responseBody === null || isFinal(status)
    ? null
    : Buffer.from(responseBody).toString("utf8").replaceAll("\0", "\ufffd")

/**
 * Ends deliveries, or queues them for their next attempt. It changes a row only at the expected attempt, and a claimed one
 * only by its claim, so a late outcome from an earlier owner changes nothing that a later one has claimed.
 */
const settleStatement = (sql: SqlClient.SqlClient, records: ReadonlyArray<AttemptRecord>) => {
  const of = <A>(read: (record: AttemptRecord) => A) => records.map(read)
  const delays = of(({ transition: { next_delay } }) => next_delay === undefined ? null : Duration.toMillis(next_delay))
  return sql`outcome as materialized (
      select webhook_id, id, claimed_at, status, attempt, delay, code, error, duration, is_final,
        to_timestamp(started / 1000) as started_at, response_body, response_text, retry_after
      from unnest(${column.int8(of((r) => r.webhookId))}, ${column.int8(of((r) => r.deliveryId))},
        ${column.text(of((r) => r.claimedAt))}::timestamptz[],
        ${column.text(of((r) => r.transition.status))}, ${column.int4(of((r) => r.transition.attempt_count))},
        ${column.float8(delays)}, ${column.int4(of((r) => r.transition.response_code))},
        ${column.text(of((r) => r.transition.error))}, ${column.int4(of((r) => r.durationMs))},
        ${column.bool(of((r) => isFinal(r.transition.status)))}, ${column.float8(of((r) => r.startedAt))},
        ${column.bytea(of((r) => isFinal(r.transition.status) ? r.responseBody : null))}, ${column.text(of(textOf))},
        ${column.text(of((r) => r.retryAfter))})
        as t (webhook_id, id, claimed_at, status, attempt, delay, code, error, duration, is_final, started,
          response_body, response_text, retry_after)
    ), found as materialized (
      -- One query for each index that leads to an actor's deliveries. The limit makes PostgreSQL look up each row by
      -- itself; without it the planner may join all claimed rows.
      select o.*, q.row from outcome o cross join lateral (
        select ctid as row from webhook_queue q where q.webhook_id = o.webhook_id and q.id = o.id
          and q.status = 'taken' and q.attempt_count = o.attempt - 1 and q.due_at = o.claimed_at
        union all select ctid as row from webhook_queue q where q.webhook_id = o.webhook_id and q.id = o.id
          and q.status = 'pending' and q.attempt_count = o.attempt - 1 limit 1) q
    ), ended as (
      delete from webhook_queue q using found o where q.ctid = o.row and o.is_final
      returning q.webhook_id, q.id, q.event_id, q.event, o.status, q.is_test, o.attempt, q.attempts, o.started_at,
        o.duration, o.code, o.error, o.response_body, o.retry_after, q.created_at, q.recovery_id
    ), history as (
      insert into webhook_deliveries (webhook_id, id, event_id, event, status, is_test, attempt_count, attempts,
        started_at, duration_ms, response_code, error, response_body, retry_after, created_at)
      select webhook_id, id, event_id, event, status, is_test, attempt, attempts, started_at, duration, code, error,
        response_body, retry_after, created_at
      from ended
    ), recovered as (
      ${recordRecovered(sql, sql`select recovery_id, status = 'delivered' as is_delivered from ended`)}
    ), retried as (
      update webhook_queue q set status = 'retrying', attempt_count = o.attempt,
        due_at = now() + o.delay * interval '1 millisecond',
        attempts = q.attempts || jsonb_build_object('attempt', o.attempt,
          'started_at', to_char(o.started_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
          'duration_ms', o.duration, 'response_code', o.code, 'error', o.error,
          'response_text', o.response_text, 'retry_after', o.retry_after)
      from found o where q.ctid = o.row and not o.is_final
    )`
}

const NewlyUnhealthy = Schema.Array(Schema.Struct({ id: WebhookId, reason: UnhealthyReason }))

/** Writes the outcomes of all actors of a node, many in one statement. */
export class DeliveryOutcomes extends Context.Service<DeliveryOutcomes, {
  /** Calls `done` once the outcome is committed, however long the database is unavailable. A failure is permanent. */
  readonly record: (record: AttemptRecord, done: (exit: Exit.Exit<void>) => void) => void
}>()("messaging-service/webhooks/delivery/DeliveryOutcomes") {
  static readonly layer = Layer.effect(
    DeliveryOutcomes,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { transaction } = yield* Database
      const { webhookUnhealthyFailures, webhookUnhealthySeconds } = yield* AppConfig
      const { base } = yield* PublicUrl
      const { notify } = yield* UnhealthyNotifier
      const count = yield* AttemptCounts.make

      /** The usual case: a group without failures only resets failure counts. */
      const writeSuccesses = (records: ReadonlyArray<AttemptRecord>, ids: ReadonlyArray<WebhookId>) =>
        sql`with ${settleStatement(sql, records)}
          update webhooks set failure_count = 0, failing_since = null
          where id = any(${column.int8(ids)}) and failure_count > 0`

      const writeAll = (records: ReadonlyArray<AttemptRecord>, changes: ReadonlyArray<HealthChange>) =>
        sql`with ${settleStatement(sql, records)}, affected as (
            -- All writers lock in the same order, so that concurrent groups cannot deadlock. Only webhooks with ended
            -- rows count: a group whose commit went unconfirmed is written again, and must not count again.
            select w.id, w.is_active, w.url, h.exhausted, h.gone, w.unhealthy_reason as before,
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
              when before in ('failing', 'gone') then before
              when gone then 'gone'
              -- People make the receiver of the sandbox fail in order to see this within minutes.
              when count > 0 and starts_with(url, ${`${base}${receiverPath}/`}) then 'failing'
              when count >= ${webhookUnhealthyFailures}
                and since <= now() - ${webhookUnhealthySeconds} * interval '1 second' then 'failing'
              else before end as after
            from affected
          ), updated as (
            update webhooks w set failure_count = j.count, failing_since = j.since, unhealthy_reason = j.after
            from judged j where w.id = j.id
          )
          select id, after as reason from judged where after is distinct from before`.pipe(
          Effect.flatMap(Schema.decodeUnknownEffect(NewlyUnhealthy))
        )

      const write = Effect.fnUntraced(function*(records: ReadonlyArray<AttemptRecord>) {
        const changes = healthChanges(records)
        if (changes.every(({ exhausted }) => exhausted === 0)) {
          yield* writeSuccesses(records, changes.map(({ id }) => id))
          return
        }
        yield* transaction(
          Effect.flatMap(writeAll(records, changes), Effect.forEach((webhook) => notify(webhook), { discard: true }))
        )
      }, Effect.orDie)

      const record = yield* GroupCommit.makeWithCallback({
        maxSize: 100,
        concurrency: 1,
        run: (records: ReadonlyArray<AttemptRecord>) =>
          Effect.map(retryWhileUnavailable(write(records)), () => records.map(count)).pipe(
            Effect.tapCause((cause) => Effect.logError("storing outcomes of deliveries failed", cause))
          )
      })
      return DeliveryOutcomes.of({ record })
    })
  )
}
