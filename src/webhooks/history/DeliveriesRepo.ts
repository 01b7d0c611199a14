import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { ulidMillis } from "../../platform/crypto/ids.ts"
import { column } from "../../platform/database/column.ts"
import * as Query from "../../platform/database/Query.ts"
import { AccountId, DeliveryId, EventId, WebhookId } from "../../values/Ids.ts"
import { direction, Sort, type StatusRange, windowFields } from "../../values/Page.ts"
import type { AttemptRecord } from "../delivery/DeliveryAttempt.ts"
import { DeliveryStatus, queueStatuses } from "../delivery/DeliveryState.ts"
import { DeliverySummary, RecordedAttempt } from "./Delivery.ts"
import { deliveriesOf } from "./eventDeliveries.ts"

const Filter = Schema.Struct({
  webhookId: WebhookId,
  status: Schema.NullOr(DeliveryStatus),
  event: Schema.NullOr(Schema.String),
  event_id: Schema.NullOr(EventId),
  codes: Schema.NullOr(Schema.Struct({ lowest: Schema.Int, highest: Schema.Int })),
  ids: Schema.NullOr(Schema.Array(DeliveryId)),
  from_date: Schema.NullOr(Schema.String),
  to_date: Schema.NullOr(Schema.String),
  sort: Sort,
  ...windowFields
})

const One = Schema.Struct({ webhookId: WebhookId, id: DeliveryId })

/** A message; or a message with failover or a verification, by its id. */
const Message = Schema.Struct({
  accountId: AccountId,
  webhookId: WebhookId,
  of: Schema.Union([
    Schema.Struct({ channel: Schema.String, id: Schema.String }),
    Schema.Struct({ subject: Schema.String })
  ])
})

/** A delivery as the tables store it. */
const StoredDelivery = Schema.Struct({
  ...DeliverySummary.fields,
  body: Schema.NullOr(Schema.Uint8Array),
  /** The earlier attempts. Those that an older version recorded have their answers in base64. */
  attempts: Schema.Array(Schema.Struct({
    ...RecordedAttempt.fields,
    response_body: Schema.optionalKey(Schema.NullOr(Schema.Uint8ArrayFromBase64)),
    response_text: Schema.optionalKey(Schema.NullOr(Schema.String))
  })),
  /** Of the last attempt of an ended delivery, which is stored in the row itself. */
  started_at: RecordedAttempt.fields.started_at.pipe(Schema.NullOr),
  response_body: Schema.NullOr(Schema.Uint8Array),
  retry_after: Schema.NullOr(Schema.String)
})

export type StoredDelivery = typeof StoredDelivery.Type

/** The deliveries of a webhook to read; null matches all. */
interface Selection {
  readonly webhookId: number
  readonly status: DeliveryStatus | null
  readonly event: string | null
  readonly event_id: string | null
  readonly ids: ReadonlyArray<number> | null
  /** The answer to the last attempt. */
  readonly codes: StatusRange | null
  /** Created at this moment or later. */
  readonly from_date: string | null
  /** Created before this moment. */
  readonly to_date: string | null
}

const everything = {
  status: null,
  event: null,
  event_id: null,
  codes: null,
  from_date: null,
  to_date: null
}

/** The queue's statuses of each public status: a claimed delivery keeps the status that it had. */
const queuedAs = { pending: ["pending", "taken"], retrying: ["retrying", "taken"] } as const

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  /** `code` is the answer to the last attempt. */
  const matching = (
    { codes, event, event_id, from_date, ids, to_date, webhookId }: Selection,
    code: Statement.Fragment
  ) =>
    sql.and([
      sql`webhook_id = ${webhookId}`,
      ...(event === null ? [] : [sql`event = ${event}`]),
      ...(event_id === null
        ? []
        : [sql`event_id = ${event_id} and id = any(${deliveriesOf(sql, sql`e.id = ${event_id}`, webhookId)})`]),
      ...(ids === null ? [] : [sql`id = any(${column.int8(ids)})`]),
      ...(codes === null ? [] : [sql`${code} between ${codes.lowest} and ${codes.highest}`]),
      ...(from_date === null ? [] : [sql`created_at >= ${from_date}::timestamptz`]),
      ...(to_date === null ? [] : [sql`created_at < ${to_date}::timestamptz`])
    ])

  const queued = (selection: Selection, status: typeof queueStatuses[number]) =>
    sql`select id, webhook_id, event, event_id, attempt_count, is_test, created_at, attempts,
        case when attempt_count = 0 then 'pending' else 'retrying' end as status,
        case when status <> 'taken' then due_at end as next_attempt_at,
        (attempts -> -1 ->> 'response_code')::smallint as response_code, attempts -> -1 ->> 'error' as error,
        (attempts -> -1 ->> 'duration_ms')::integer as duration_ms,
        null::timestamptz as started_at, null::bytea as response_body, null::text as retry_after,
        null::timestamptz as completed_at
      from webhook_queue where ${
      matching(selection, sql`(attempts -> -1 ->> 'response_code')::smallint`)
    } and status = ${sql.literal(`'${status}'`)}
        and ${selection.status === null ? sql`true` : sql`(attempt_count = 0) = ${selection.status === "pending"}`}`

  const ended = (selection: Selection, further = sql`true`) =>
    sql`select id, webhook_id, event, event_id, attempt_count, is_test, created_at, attempts, status,
        null::timestamptz as next_attempt_at, response_code, error, duration_ms, started_at, response_body, retry_after,
        completed_at
      from webhook_deliveries where ${matching(selection, sql`response_code`)}
        -- A delivery never ends before it is created, so older partitions are not read.
        and ${selection.from_date === null ? sql`true` : sql`completed_at >= ${selection.from_date}::timestamptz`}
        -- Only 2xx is a success, and the others have their index.
        and ${(selection.codes?.lowest ?? 0) < 300 ? sql`true` : sql`status <> 'delivered'`}
        and ${
      selection.status === null ? sql`true` : sql`status = ${sql.literal(`'${selection.status}'`)}`
    } and ${further}`

  /**
   * Once an event was removed, nothing names its deliveries. So those since its creation are read. The hour is for the clock
   * of the node that published it.
   */
  const endedLongAgo = (selection: Selection, eventId: string) =>
    ended(
      { ...selection, event_id: null },
      sql`event_id = ${eventId} and not exists (select from events where id = ${eventId})
        and completed_at >= to_timestamp(${ulidMillis(eventId.slice("evt_".length)) / 1000}) - interval '1 hour'`
    )

  /** One query for each index: one for each status of the queue, and one for the partitions of the history. */
  const reads = (selection: Selection) => {
    const { codes, event_id, status } = selection
    const history = [ended(selection), ...(event_id === null ? [] : [endedLongAgo(selection, event_id)])]
    // What waits for its first attempt has no answer.
    const waiting = queueStatuses.filter((status) => codes === null || status !== "pending")
    if (status === null) return [...waiting.map((status) => queued(selection, status)), ...history]
    return status === "pending" || status === "retrying"
      ? queuedAs[status].map((queueStatus) => queued(selection, queueStatus))
      : history
  }

  const unionAll = sql.join(" union all ", false)

  /**
   * Ids follow the order of creation. Each query stops where the page ends, so PostgreSQL sorts only waiting retries. The
   * statement is unprepared: the plan that is best for most webhooks sorts the whole history of a webhook with a million
   * deliveries.
   */
  const list = Query.findAll({
    Request: Filter,
    Result: DeliverySummary,
    execute: ({ after, limit, offset, sort, ...filter }) => {
      const by = sql.literal(direction(sort))
      const behind = Query.afterId(sql, "id", { after, sort })
      const firsts = reads(filter).map((read) => sql`(${read} and ${behind} order by id ${by} limit ${offset + limit})`)
      return sql`select id, webhook_id, event, event_id, status, attempt_count, next_attempt_at, response_code, error,
          duration_ms, is_test, created_at, completed_at
        from (${unionAll(firsts)}) d order by id ${by} limit ${limit} offset ${offset}`.unprepared
    }
  })

  const count = Query.findOne({
    Request: Filter,
    Result: Schema.Struct({ total: Schema.Int }),
    execute: (filter) => Query.totalOf(sql, sql`from (${unionAll(reads(filter))}) d`)
  })

  const aboutMessage = Query.findOne({
    Request: Message,
    Result: Schema.Struct({ ids: Schema.Array(DeliveryId) }),
    execute: ({ accountId, of, webhookId }) => {
      const which = "subject" in of
        ? sql`e.subject = ${of.subject}`
        : sql`e.message_id = ${of.id}::bigint and e.channel = ${of.channel}`
      return sql`select ${deliveriesOf(sql, sql`${which} and e.account_id = ${accountId}`, webhookId)} as ids`
    }
  })

  /** Adds the payload. A sub-select reads the one partition of `events` that can have it; a join would read all. */
  const one = ({ id, webhookId }: typeof One.Encoded) =>
    sql`select d.*, (select e.body from events e where e.id = d.event_id) as body
      from (${unionAll(reads({ ...everything, webhookId, ids: [id] }))}) d`

  const find = Query.findOneOption({ Request: One, Result: StoredDelivery, execute: one })

  /** Queues the event of a delivery again; returns nothing when its payload has expired. */
  const requeue = Query.findOneOption({
    Request: One,
    Result: Schema.Struct({ id: DeliveryId }),
    execute: (delivery) =>
      sql`with requeued as (
          insert into webhook_queue (webhook_id, event_id, event, is_test, status)
          select d.webhook_id, d.event_id, d.event, d.is_test, 'pending' from (${
        one(delivery)
      }) d where d.body is not null
          returning id, webhook_id, event_id
        ), marked as (
          -- A recovery repeats the last delivery of an event only, whichever was clicked.
          update webhook_deliveries d set requeued_as = r.id from requeued r
          where d.webhook_id = ${delivery.webhookId} and d.requeued_as is null and d.id = any(${delivery.id}::bigint || array(
            select id from webhook_deliveries where webhook_id = ${delivery.webhookId}
              and event_id = (select event_id from requeued)
              and status <> 'delivered' and requeued_as is null and not is_test))
        ), noted as (
          update events e set webhook_ids = e.webhook_ids || (select webhook_id from requeued),
            delivery_ids = e.delivery_ids || (select id from requeued)
          where e.id = (select event_id from requeued)
        )
        select id from requeued`
  })

  const nextId = Query.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ id: DeliveryId }),
    execute: () => sql`select nextval('webhook_delivery_ids') as id`
  })

  const insertEvent = Query.void({
    Request: Schema.Struct({
      id: EventId,
      accountId: Schema.Int,
      event: Schema.String,
      body: Schema.Uint8Array,
      webhookId: WebhookId,
      deliveryId: DeliveryId
    }),
    execute: ({ accountId, body, deliveryId, event, id, webhookId }) =>
      sql`insert into events (id, account_id, name, body, webhook_ids, delivery_ids)
        values (${id}, ${accountId}, ${event}, ${body}, array[${webhookId}::bigint], array[${deliveryId}::bigint])`
  })

  /** Records the one attempt of a test as an ended delivery; it was never queued. */
  const insertTest = (record: AttemptRecord, of: { readonly event: string; readonly event_id: EventId }) => {
    const { deliveryId, durationMs, responseBody, retryAfter, startedAt, transition, webhookId } = record
    const started = sql`to_timestamp(${startedAt}::float8 / 1000)`
    return Query.run(
      sql`insert into webhook_deliveries (webhook_id, id, event_id, event, status, is_test, attempt_count,
        started_at, duration_ms, response_code, error, response_body, retry_after, created_at, completed_at)
      values (${webhookId}, ${deliveryId}, ${of.event_id}, ${of.event}, ${transition.status}, true,
        ${transition.attempt_count}, ${started}, ${durationMs}, ${transition.response_code}, ${transition.error},
        ${responseBody}, ${retryAfter}, least(${started}, clock_timestamp()), clock_timestamp())`
    )
  }

  return { list, count, aboutMessage, find, requeue, nextId, insertEvent, insertTest }
})

/** SQL that reads deliveries from `webhook_queue` and, once they have ended, from `webhook_deliveries`. */
export class DeliveriesRepo
  extends Context.Service<DeliveriesRepo>()("messaging-service/webhooks/history/DeliveriesRepo", { make })
{
  static readonly layer = Layer.effect(DeliveriesRepo, make)
}
