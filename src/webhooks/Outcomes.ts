import { Context, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { coalesce } from "../platform/database/coalesce.ts"
import { column } from "../platform/database/column.ts"
import type { DeliveryId, WebhookId } from "../values/Ids.ts"
import type { Timestamp } from "../values/Timestamp.ts"
import { isFinal, type Transition } from "./WebhookState.ts"

/** What one attempt came to, ready to be written down. */
export interface AttemptRecord {
  readonly webhookId: WebhookId
  readonly deliveryId: DeliveryId
  readonly startedAt: Timestamp
  readonly durationMs: number
  readonly responseBody: Uint8Array | null
  readonly transition: Transition
}

/** Per webhook: how many deliveries were used up after the last success, and whether there was one. */
const healthOf = (records: ReadonlyArray<AttemptRecord>) => {
  const health = new Map<WebhookId, { succeeded: boolean; exhausted: number }>()
  for (const { transition, webhookId } of records) {
    if (transition.health === "undecided") continue
    const before = health.get(webhookId) ?? { succeeded: false, exhausted: 0 }
    health.set(
      webhookId,
      transition.health === "success"
        ? { succeeded: true, exhausted: 0 }
        : { ...before, exhausted: before.exhausted + 1 }
    )
  }
  return [...health].map(([id, change]) => ({ id, ...change }))
}

/**
 * The one writer of outcomes of a node: what many actors learn at the same time is one statement. A row is changed only
 * while it is taken and at the attempt that was expected, so a second owner's late outcome changes nothing.
 */
export class Outcomes extends Context.Service<Outcomes, {
  /** Returns when the outcome is committed. */
  readonly record: (record: AttemptRecord) => Effect.Effect<void>
}>()("messaging-service/webhooks/Outcomes") {
  static readonly layer = Layer.effect(
    Outcomes,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const write = (records: ReadonlyArray<AttemptRecord>) => {
        const of = <A>(read: (record: AttemptRecord) => A) => records.map(read)
        const delays = of(({ transition: { next_delay } }) =>
          next_delay === undefined ? null : Duration.toMillis(next_delay)
        )
        const health = healthOf(records)
        return sql`with outcome as (
            select * from unnest(${column.int8(of((r) => r.deliveryId))}, ${
          column.text(of((r) => r.transition.status))
        },
              ${column.int4(of((r) => r.transition.attempt_count))}, ${column.float8(delays)},
              ${column.int4(of((r) => r.transition.response_code))}, ${column.text(of((r) => r.transition.error))},
              ${column.int4(of((r) => r.durationMs))}, ${column.bool(of((r) => isFinal(r.transition.status)))},
              ${column.text(of((r) => r.startedAt))}::timestamptz[], ${column.bytea(of((r) => r.responseBody))})
              as t (id, status, attempt, delay, code, error, duration, is_final, started_at, response_body)
          ), settled as (
            update webhook_deliveries d set status = o.status, attempt_count = o.attempt, response_code = o.code,
              error = o.error, duration_ms = o.duration, due_at = now() + o.delay * interval '1 millisecond',
              completed_at = case when o.is_final then now() end
            from outcome o where d.id = o.id and d.status = 'taken' and d.attempt_count = o.attempt - 1
            returning d.id
          ), attempts as (
            insert into webhook_attempts (delivery_id, attempt, started_at, duration_ms, response_code, error, response_body)
            select o.id, o.attempt, o.started_at, o.duration, o.code, o.error, o.response_body
            from outcome o join settled using (id)
          ), concerned as (
            -- Locked in one order by everybody, so that groups written at the same time cannot deadlock.
            select w.id, h.succeeded, h.exhausted from webhooks w
            join unnest(${column.int8(health.map(({ id }) => id))}, ${
          column.bool(health.map(({ succeeded }) => succeeded))
        },
              ${column.int4(health.map(({ exhausted }) => exhausted))}) as h (id, succeeded, exhausted) on w.id = h.id
            where h.exhausted > 0 or w.failure_count > 0 order by w.id for update of w
          )
          update webhooks w set failure_count = case when c.succeeded then 0 else w.failure_count end + c.exhausted
          from concerned c where w.id = c.id`
      }

      const record = yield* coalesce({
        most: 100,
        lanes: 2,
        run: (records: ReadonlyArray<AttemptRecord>) =>
          Effect.as(Effect.orDie(write(records)), Array.from(records, () => undefined))
      })
      return Outcomes.of({ record })
    })
  )
}
