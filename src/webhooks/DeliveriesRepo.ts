import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import type { Addressed } from "../events/Subscriber.ts"
import { column } from "../platform/database/column.ts"
import { DeliveryId, WebhookId } from "../values/Ids.ts"
import { DeliveryAttempt, DeliverySummary } from "./Webhook.ts"
import { DeliveryStatus } from "./WebhookState.ts"

/** A delivery in the hands of its webhook's actor. */
export const Taken = Schema.Struct({
  id: DeliveryId,
  event_id: Schema.String,
  event: Schema.String,
  attempt_count: Schema.Int,
  is_test: Schema.Boolean,
  body: Schema.Uint8Array
})
export type Taken = typeof Taken.Type

const Filter = Schema.Struct({
  webhookId: WebhookId,
  status: Schema.NullOr(DeliveryStatus),
  event: Schema.NullOr(Schema.String),
  limit: Schema.Int,
  offset: Schema.Int
})

const One = Schema.Struct({ webhookId: WebhookId, id: DeliveryId })

/** SQL of `webhook_deliveries` and `webhook_attempts`, but for the outcomes: those are `recordOutcomes`. */
export const makeDeliveriesRepo = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  const columns = sql.literal(
    `id, webhook_id, event, event_id, attempt_count, response_code, error, duration_ms, is_test,
    case when status <> 'taken' then status when attempt_count = 0 then 'pending' else 'retrying' end as status,
    case when status in ('pending', 'retrying') then due_at end as next_attempt_at, created_at, completed_at`
  )

  const insert = (deliveries: ReadonlyArray<Addressed>) =>
    sql`insert into webhook_deliveries (webhook_id, account_id, event_id, event)
      select * from unnest(${column.int8(deliveries.map(({ webhookId }) => webhookId))},
        ${column.int8(deliveries.map(({ accountId }) => accountId))},
        ${column.text(deliveries.map(({ eventId }) => eventId))}, ${column.text(deliveries.map(({ event }) => event))})`

  /** Takes what is due, oldest first. A taken row has left the index of due ones. */
  const take = SqlSchema.findAll({
    Request: Schema.Struct({ webhookId: WebhookId, limit: Schema.Int }),
    Result: Taken,
    execute: ({ limit, webhookId }) =>
      sql`with due as (
          select id from webhook_deliveries
          where webhook_id = ${webhookId} and status in ('pending', 'retrying') and due_at <= now()
          order by due_at, id limit ${limit} for update skip locked
        ), taken as (
          update webhook_deliveries d set status = 'taken', due_at = now() from due where d.id = due.id
          returning d.id, d.event_id, d.event, d.attempt_count, d.is_test
        )
        select taken.*, e.body from taken join events e on e.id = taken.event_id order by taken.id`
  })

  /** Gives back what was taken and is in nobody's hands: all but `held`. */
  const giveBack = (webhookId: WebhookId, held: ReadonlyArray<DeliveryId>) =>
    sql`update webhook_deliveries set due_at = now(),
        status = case when attempt_count = 0 then 'pending' else 'retrying' end
      where webhook_id = ${webhookId} and status = 'taken' and id <> all(${column.int8(held)})`

  /** Milliseconds until the next delivery of a webhook is due; null when none waits. */
  const nextDue = SqlSchema.findOne({
    Request: WebhookId,
    Result: Schema.Struct({ millis: Schema.NullOr(Schema.Finite) }),
    execute: (webhookId) =>
      sql`select extract(epoch from min(due_at) - now())::float8 * 1000 as millis from webhook_deliveries
        where webhook_id = ${webhookId} and status in ('pending', 'retrying')`
  })

  /** Webhooks with work that nobody seems to do: due for a second, or taken for longer than an attempt can last. */
  const neglected = SqlSchema.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ id: WebhookId }),
    execute: () =>
      sql`select id from webhooks w where is_active and (
        exists (select from webhook_deliveries d where d.webhook_id = w.id and d.status in ('pending', 'retrying')
          and d.due_at < now() - interval '1 second')
        or exists (select from webhook_deliveries d where d.webhook_id = w.id and d.status = 'taken'
          and d.due_at < now() - interval '5 seconds'))`
  })

  const removeAll = (webhookId: WebhookId) =>
    Effect.andThen(
      sql`delete from webhook_attempts a using webhook_deliveries d
        where a.delivery_id = d.id and d.webhook_id = ${webhookId}`,
      sql`delete from webhook_deliveries where webhook_id = ${webhookId}`
    )

  const matching = (filter: typeof Filter.Encoded) =>
    sql.and([
      sql`webhook_id = ${filter.webhookId}`,
      ...(filter.event === null ? [] : [sql`event = ${filter.event}`]),
      ...(filter.status === null ? [] : [
        filter.status === "pending"
          ? sql`(status = 'pending' or status = 'taken' and attempt_count = 0)`
          : filter.status === "retrying"
          ? sql`(status = 'retrying' or status = 'taken' and attempt_count > 0)`
          : sql`status = ${filter.status}`
      ])
    ])

  const list = SqlSchema.findAll({
    Request: Filter,
    Result: DeliverySummary,
    execute: (filter) =>
      sql`select ${columns} from webhook_deliveries where ${matching(filter)}
        order by id desc limit ${filter.limit} offset ${filter.offset}`
  })

  const count = SqlSchema.findOne({
    Request: Filter,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (filter) => sql`select count(*) as total from webhook_deliveries where ${matching(filter)}`
  })

  const find = SqlSchema.findOneOption({
    Request: One,
    Result: Schema.Struct({ ...DeliverySummary.fields, body: Schema.NullOr(Schema.Uint8Array) }),
    execute: ({ id, webhookId }) =>
      sql`select d.*, e.body from (select ${columns} from webhook_deliveries where id = ${id} and webhook_id = ${webhookId}) d
        left join events e on e.id = d.event_id`
  })

  const attempts = SqlSchema.findAll({
    Request: DeliveryId,
    Result: Schema.Struct({ ...DeliveryAttempt.fields, response_body: Schema.NullOr(Schema.Uint8Array) }),
    execute: (id) =>
      sql`select attempt, started_at, duration_ms, response_code, error, response_body from webhook_attempts
        where delivery_id = ${id} order by attempt`
  })

  return { insert, take, giveBack, nextDue, neglected, removeAll, list, count, find, attempts }
})
