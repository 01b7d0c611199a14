import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { column } from "../../platform/database/column.ts"
import * as Query from "../../platform/database/Query.ts"
import { NotFound } from "../../platform/http/ApiErrors.ts"
import { AccountId, WebhookId } from "../../values/Ids.ts"
import { classesPerDoubling } from "../delivery/AttemptCounts.ts"
import { queueStatuses } from "../delivery/DeliveryState.ts"
import { AttemptFigures, AttemptHour, mostWaiting, type WebhookStatistics } from "./WebhookStatistics.ts"

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  /** The waiting deliveries of a webhook. Each index gives those that have waited longest first, as far as it can. */
  const waiting = sql.join(" union all ", false)(
    queueStatuses.map((status) =>
      sql`(select created_at from webhook_queue where webhook_id = w.id and status = ${sql.literal(`'${status}'`)}
        order by ${sql.literal(status === "retrying" ? "due_at, id" : "id")} limit ${mostWaiting})`
    )
  )

  const figures = Query.findAll({
    Request: Schema.Struct({ accountId: AccountId, ids: Schema.Array(WebhookId) }),
    Result: Schema.Struct({ id: WebhookId, ...AttemptFigures.fields }),
    execute: ({ accountId, ids }) =>
      sql`select w.id, coalesce(c.succeeded, 0) as succeeded, coalesce(c.failed, 0) as failed,
          floor(2 ^ (c.p95 / ${classesPerDoubling}::numeric))::integer as p95_ms,
          least(q.waiting, ${mostWaiting}) as waiting, q.oldest_waiting_at
        from webhooks w
        cross join lateral (
          select sum(succeeded)::bigint as succeeded, sum(failed)::bigint as failed,
            min(duration) filter (where so_far >= 0.95 * total) as p95
          from (
            select duration, sum(succeeded) as succeeded, sum(failed) as failed,
              sum(sum(succeeded + failed)) over (order by duration) as so_far,
              sum(sum(succeeded + failed)) over () as total
            from webhook_attempt_counts
            where webhook_id = w.id and hour > date_trunc('hour', now(), 'UTC') - interval '24 hours'
            group by duration
          ) as durations
        ) c
        cross join lateral (
          select count(*) as waiting, min(created_at) as oldest_waiting_at from (${waiting}) as queued
        ) q
        where w.account_id = ${accountId} and w.id = any(${column.int8(ids)})`
  })

  const hours = Query.findAll({
    Request: WebhookId,
    Result: AttemptHour,
    execute: (id) =>
      sql`select h.at, coalesce(sum(c.succeeded), 0)::bigint as succeeded, coalesce(sum(c.failed), 0)::bigint as failed
        from generate_series(date_trunc('hour', now(), 'UTC') - interval '23 hours', date_trunc('hour', now(), 'UTC'),
          interval '1 hour') as h (at)
        left join webhook_attempt_counts c on c.webhook_id = ${id} and c.hour = h.at
        group by h.at order by h.at`
  })

  return { figures, hours }
})

/** How the attempts of webhooks went in the last 24 hours, and what waits. */
export class WebhookFigures extends Context.Service<WebhookFigures, {
  readonly of: (
    webhook: { readonly accountId: AccountId; readonly id: WebhookId }
  ) => Effect.Effect<WebhookStatistics, NotFound>
  /** Those of some webhooks of an account, without the hours. */
  readonly ofEach: (
    accountId: AccountId,
    ids: ReadonlyArray<WebhookId>
  ) => Effect.Effect<ReadonlyMap<WebhookId, AttemptFigures>>
}>()("messaging-service/webhooks/history/WebhookFigures") {
  static readonly layer = Layer.effect(
    WebhookFigures,
    Effect.map(make, (repo) =>
      WebhookFigures.of({
        of: Effect.fn("WebhookFigures.of")(function*({ accountId, id }) {
          const [found] = yield* repo.figures({ accountId, ids: [id] })
          if (found === undefined) return yield* new NotFound()
          const { id: _, ...figures } = found
          return { ...figures, hours: yield* repo.hours(id) }
        }),
        ofEach: Effect.fn("WebhookFigures.ofEach")(function*(accountId, ids) {
          const rows = yield* repo.figures({ accountId, ids })
          return new Map(rows.map(({ id, ...figures }) => [id, figures]))
        })
      }))
  )
}
