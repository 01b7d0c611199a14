import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { repository } from "../../platform/database/repository.ts"
import { DeliveryId, EventId, WebhookId } from "../../values/Ids.ts"
import { direction, Sort } from "../../values/Page.ts"
import type { AttemptRecord } from "../delivery/DeliveryOutcomes.ts"
import { DeliveryStatus, queueStatuses } from "../delivery/DeliveryState.ts"
import { DeliveryAttempt, DeliverySummary } from "../endpoint/Webhook.ts"

const Filter = Schema.Struct({
  webhookId: WebhookId,
  status: Schema.NullOr(DeliveryStatus),
  event: Schema.NullOr(Schema.String),
  from_date: Schema.NullOr(Schema.String),
  to_date: Schema.NullOr(Schema.String),
  sort: Sort,
  limit: Schema.Int,
  offset: Schema.Int
})

const One = Schema.Struct({ webhookId: WebhookId, id: DeliveryId })

/** A whole delivery as the tables have it. */
const StoredDelivery = Schema.Struct({
  ...DeliverySummary.fields,
  body: Schema.NullOr(Schema.Uint8Array),
  /** The attempts that stand in a list, their response bodies in base64. */
  attempts: Schema.Array(Schema.Struct({
    ...DeliveryAttempt.fields,
    response_body: Schema.NullOr(Schema.Uint8ArrayFromBase64)
  })),
  /** Of the last attempt, where it stands in the row. */
  started_at: DeliveryAttempt.fields.started_at.pipe(Schema.NullOr),
  response_body: Schema.NullOr(Schema.Uint8Array),
  retry_after: Schema.NullOr(Schema.String)
})

export type StoredDelivery = typeof StoredDelivery.Type

/** Which deliveries of a webhook are read; null does not ask. */
interface Asked {
  readonly webhookId: number
  readonly status: DeliveryStatus | null
  readonly event: string | null
  readonly id: number | null
  /** Created from this moment on. */
  readonly from_date: string | null
  /** Created before this moment. */
  readonly to_date: string | null
}

/** Where deliveries of a status stand in the queue: one in its actor's hands is still shown as it was before. */
const queuedAs = { pending: ["pending", "taken"], retrying: ["retrying", "taken"] } as const

/** SQL that reads deliveries: those in `webhook_queue`, and those that have ended in `webhook_deliveries`. */
export const makeDeliveriesRepo = repository(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  const matching = ({ event, from_date, id, to_date, webhookId }: Asked) =>
    sql.and([
      sql`webhook_id = ${webhookId}`,
      ...(event === null ? [] : [sql`event = ${event}`]),
      ...(id === null ? [] : [sql`id = ${id}`]),
      ...(from_date === null ? [] : [sql`created_at >= ${from_date}::timestamptz`]),
      ...(to_date === null ? [] : [sql`created_at < ${to_date}::timestamptz`])
    ])

  const waiting = (asked: Asked, place: typeof queueStatuses[number]) =>
    sql`select id, webhook_id, event, event_id, attempt_count, is_test, created_at, attempts,
        case when attempt_count = 0 then 'pending' else 'retrying' end as status,
        case when status <> 'taken' then due_at end as next_attempt_at,
        (attempts -> -1 ->> 'response_code')::smallint as response_code, attempts -> -1 ->> 'error' as error,
        (attempts -> -1 ->> 'duration_ms')::integer as duration_ms,
        null::timestamptz as started_at, null::bytea as response_body, null::text as retry_after,
        null::timestamptz as completed_at
      from webhook_queue where ${matching(asked)} and status = ${sql.literal(`'${place}'`)}
        and ${asked.status === null ? sql`true` : sql`(attempt_count = 0) = ${asked.status === "pending"}`}`

  const ended = (asked: Asked) =>
    sql`select id, webhook_id, event, event_id, attempt_count, is_test, created_at, attempts, status,
        null::timestamptz as next_attempt_at, response_code, error, duration_ms, started_at, response_body, retry_after,
        completed_at
      from webhook_deliveries where ${matching(asked)}
        -- None has ended before it was made: so older partitions are not read.
        and ${asked.from_date === null ? sql`true` : sql`completed_at >= ${asked.from_date}::timestamptz`}
        and ${asked.status === null ? sql`true` : sql`status = ${sql.literal(`'${asked.status}'`)}`}`

  /**
   * One read for each index that leads to what is asked for: one for each status of the queue, and one in every
   * partition of the history.
   */
  const reads = (asked: Asked) => {
    const { status } = asked
    if (status === null) return [...queueStatuses.map((place) => waiting(asked, place)), ended(asked)]
    return status === "pending" || status === "retrying"
      ? queuedAs[status].map((place) => waiting(asked, place))
      : [ended(asked)]
  }

  const unionAll = sql.join(" union all ", false)

  /**
   * Ids are given in the order of creation. Each read stops by itself where the page ends, so that nothing is sorted but
   * retries that wait. Planned anew each time: the plan that is best for most webhooks sorts the whole history of the one
   * that has a million deliveries.
   */
  const list = SqlSchema.findAll({
    Request: Filter,
    Result: DeliverySummary,
    execute: ({ limit, offset, sort, ...filter }) => {
      const by = sql.literal(direction(sort))
      const firsts = reads({ ...filter, id: null }).map((read) =>
        sql`(${read} order by id ${by} limit ${offset + limit})`
      )
      return sql`select id, webhook_id, event, event_id, status, attempt_count, next_attempt_at, response_code, error,
          duration_ms, is_test, created_at, completed_at
        from (${unionAll(firsts)}) d order by id ${by} limit ${limit} offset ${offset}`.unprepared
    }
  })

  const count = SqlSchema.findOne({
    Request: Filter,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (filter) => sql`select count(*) as total from (${unionAll(reads({ ...filter, id: null }))}) d`
  })

  /** With its payload: a sub-select looks into the one partition of `events` that can have it, a join into all. */
  const one = ({ id, webhookId }: typeof One.Encoded) =>
    sql`select d.*, (select e.body from events e where e.id = d.event_id) as body
      from (${unionAll(reads({ webhookId, id, status: null, event: null, from_date: null, to_date: null }))}) d`

  const find = SqlSchema.findOneOption({ Request: One, Result: StoredDelivery, execute: one })

  /** Queues the event of a delivery once more; nothing when its payload is kept no longer. */
  const again = SqlSchema.findOneOption({
    Request: One,
    Result: Schema.Struct({ id: DeliveryId }),
    execute: (asked) =>
      sql`insert into webhook_queue (webhook_id, event_id, event, is_test, status)
        select d.webhook_id, d.event_id, d.event, d.is_test, 'pending' from (${one(asked)}) d where d.body is not null
        returning id`
  })

  const nextId = SqlSchema.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ id: DeliveryId }),
    execute: () => sql`select nextval('webhook_delivery_ids') as id`
  })

  const insertEvent = SqlSchema.void({
    Request: Schema.Struct({ id: EventId, accountId: Schema.Int, event: Schema.String, body: Schema.Uint8Array }),
    execute: ({ accountId, body, event, id }) =>
      sql`insert into events (id, account_id, name, body) values (${id}, ${accountId}, ${event}, ${body})`
  })

  /** A delivery that is born at its end: the attempt of a test, which has waited nowhere. */
  const insertTest = (record: AttemptRecord, of: { readonly event: string; readonly event_id: EventId }) => {
    const { deliveryId, durationMs, responseBody, retryAfter, startedAt, transition, webhookId } = record
    const started = sql`to_timestamp(${startedAt}::float8 / 1000)`
    return sql`insert into webhook_deliveries (webhook_id, id, event_id, event, status, is_test, attempt_count,
        started_at, duration_ms, response_code, error, response_body, retry_after, created_at, completed_at)
      values (${webhookId}, ${deliveryId}, ${of.event_id}, ${of.event}, ${transition.status}, true,
        ${transition.attempt_count}, ${started}, ${durationMs}, ${transition.response_code}, ${transition.error},
        ${responseBody}, ${retryAfter}, least(${started}, clock_timestamp()), clock_timestamp())`
  }

  return { list, count, find, again, nextId, insertEvent, insertTest }
}))
