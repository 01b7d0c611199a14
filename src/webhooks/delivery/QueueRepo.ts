import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { column } from "../../platform/database/column.ts"
import { repository } from "../../platform/database/repository.ts"
import { DeliveryId, WebhookId } from "../../values/Ids.ts"
import { NudgeReason } from "./WebhookEntity.ts"

/** A delivery in the hands of its webhook's actor. */
export const Taken = Schema.Struct({
  id: DeliveryId,
  event_id: Schema.String,
  event: Schema.String,
  attempt_count: Schema.Int,
  is_test: Schema.Boolean,
  /** Whether every attempt so far was answered with 410 Gone. */
  all_gone: Schema.Boolean,
  body: Schema.Uint8Array
})
export type Taken = typeof Taken.Type

/** One row of the queue to be written. */
export interface NewDelivery {
  readonly webhookId: WebhookId
  readonly eventId: string
  readonly event: string
}

/** One event that is only written down for a webhook, not sent. */
export interface Skipped extends NewDelivery {
  readonly error: string
}

const Inserted = Schema.Tuple([Schema.Struct({ ids: Schema.Array(DeliveryId) })])

const ids = (rows: ReadonlyArray<{ readonly webhookId: WebhookId }>) => column.int8(rows.map((row) => row.webhookId))
const events = (rows: ReadonlyArray<{ readonly eventId: string }>) => column.text(rows.map((row) => row.eventId))
const names = (rows: ReadonlyArray<{ readonly event: string }>) => column.text(rows.map((row) => row.event))

/** SQL of `webhook_queue`, but for the outcomes of attempts: those are written by `DeliveryOutcomes`. */
export const makeQueueRepo = repository(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  /** Writes deliveries; gives their ids in the order in which they were given. */
  const insert = (rows: ReadonlyArray<NewDelivery>) =>
    sql`with given as materialized (
        select nextval('webhook_delivery_ids') as id, *
        from unnest(${ids(rows)}, ${events(rows)}, ${names(rows)})
          with ordinality as t (webhook_id, event_id, event, place)
      ), queued as (
        insert into webhook_queue (id, webhook_id, event_id, event, status)
        select id, webhook_id, event_id, event, 'pending' from given
      )
      select array_agg(id order by place) as ids from given`.pipe(
      Effect.flatMap(Schema.decodeUnknownEffect(Inserted)),
      Effect.map(([{ ids }]) => ids)
    )

  const insertSkipped = (rows: ReadonlyArray<Skipped>) =>
    sql`insert into webhook_deliveries (id, created_at, status, attempt_count, webhook_id, event_id, event, error)
      select nextval('webhook_delivery_ids'), now(), 'skipped', 0, *
      from unnest(${ids(rows)}, ${events(rows)}, ${names(rows)}, ${column.text(rows.map(({ error }) => error))})`

  /** Takes first attempts in the order of their events, but for those in hand, and retries that are due. */
  const take = SqlSchema.findAll({
    Request: Schema.Struct({
      webhookId: WebhookId,
      fresh: Schema.Int,
      retries: Schema.Int,
      held: Schema.Array(DeliveryId)
    }),
    Result: Schema.Struct({ ...Taken.fields, body: Schema.NullOr(Schema.Uint8Array) }),
    execute: ({ fresh, held, retries, webhookId }) =>
      sql`with fresh as (
          select ctid from webhook_queue
          where webhook_id = ${webhookId} and status = 'pending' and id <> all(${column.int8(held)})
          order by id limit ${fresh} for update skip locked
        ), late as (
          select ctid from webhook_queue where webhook_id = ${webhookId} and status = 'retrying' and due_at <= now()
          order by due_at, id limit ${retries} for update skip locked
        ), taken as (
          update webhook_queue set status = 'taken', due_at = now()
          where ctid = any(array(select ctid from fresh union all select ctid from late))
          returning id, event_id, event, attempt_count, attempts, is_test
        )
        select taken.id, taken.event_id, taken.event, taken.attempt_count, taken.is_test, e.body,
          not exists (select from jsonb_array_elements(taken.attempts) a where a -> 'response_code' <> '410') as all_gone
        from taken left join events e on e.id = taken.event_id order by taken.id`
  })

  /** Gives back what was taken and is in nobody's hands: all but `held`. */
  const giveBack = (webhookId: WebhookId, held: ReadonlyArray<DeliveryId>) =>
    sql`update webhook_queue set due_at = now(), status = case when attempt_count = 0 then 'pending' else 'retrying' end
      where webhook_id = ${webhookId} and status = 'taken' and id <> all(${column.int8(held)})`

  /** Milliseconds until the next retry of a webhook is due; null when none waits. */
  const nextDue = SqlSchema.findOne({
    Request: WebhookId,
    Result: Schema.Struct({ millis: Schema.NullOr(Schema.Finite) }),
    execute: (webhookId) =>
      sql`select extract(epoch from min(due_at) - now())::float8 * 1000 as millis from webhook_queue
        where webhook_id = ${webhookId} and status = 'retrying'`
  })

  /**
   * Webhooks with work that nobody seems to do: due for a second, taken for longer than an attempt can last, or closed for
   * a backlog that is gone: no row of it would ever wake the actor that has to open it.
   */
  const neglected = SqlSchema.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ id: WebhookId, reason: NudgeReason }),
    execute: () =>
      sql`select id, case when is_waiting then 'waiting' when is_lost then 'lost' else 'held' end as reason from (
        select id, exists (select from (
              select created_at from webhook_queue q where q.webhook_id = w.id and q.status = 'pending'
              order by q.id limit 1) as oldest
            where oldest.created_at < now() - interval '1 second')
          or exists (select from webhook_queue q where q.webhook_id = w.id and q.status = 'retrying'
            and q.due_at < now() - interval '1 second')
          or unhealthy_reason = 'backlog_full'
            and not exists (select from webhook_queue q where q.webhook_id = w.id and q.status = 'pending')
          as is_waiting,
          exists (select from webhook_queue q where q.webhook_id = w.id and q.status = 'taken'
            and q.due_at < now() - interval '5 seconds') as is_held,
          exists (select from webhook_queue q where q.webhook_id = w.id and q.status = 'taken'
            and q.due_at < now() - interval '1 minute') as is_lost
        from webhooks w where is_active) as looks
      where is_waiting or is_held`
  })

  /** How many deliveries of a webhook wait for their first attempt, counted up to `most`. */
  const backlog = SqlSchema.findOne({
    Request: Schema.Struct({ webhookId: WebhookId, most: Schema.Int }),
    Result: Schema.Struct({ count: Schema.Int }),
    execute: ({ most, webhookId }) =>
      sql`select count(*) as count from (
        select from webhook_queue where webhook_id = ${webhookId} and status = 'pending' limit ${most}) as waiting`
  })

  /** Ends at most a thousand deliveries that nobody has in hand without another attempt; returns how many. */
  const skip = SqlSchema.findOne({
    Request: Schema.Struct({ webhookId: WebhookId, error: Schema.String, held: Schema.Array(DeliveryId) }),
    Result: Schema.Struct({ count: Schema.Int }),
    execute: ({ error, held, webhookId }) =>
      sql`with unhealthy as (
          -- Locked, so that nothing that waits for a webhook that was just switched on again is ended.
          select from webhooks where id = ${webhookId} and unhealthy_reason in ('failing', 'gone') for share
        ), fresh as (
          select ctid from webhook_queue
          where webhook_id = ${webhookId} and status = 'pending' and id <> all(${column.int8(held)})
            and exists (select from unhealthy) limit 500 for update
        ), late as (
          select ctid from webhook_queue
          where webhook_id = ${webhookId} and status = 'retrying' and exists (select from unhealthy) limit 500 for update
        ), gone as (
          delete from webhook_queue where ctid = any(array(select ctid from fresh union all select ctid from late))
          returning *
        ), ended as (
          insert into webhook_deliveries (webhook_id, id, event_id, event, status, is_test, attempt_count, attempts, error,
            created_at)
          select webhook_id, id, event_id, event, 'skipped', is_test, attempt_count, attempts, ${error}, created_at
          from gone
        )
        select count(*) as count from gone`
  })

  /** Ends deliveries whose payload is kept no longer: there is nothing that could be sent. */
  const expire = (webhookId: WebhookId, expired: ReadonlyArray<DeliveryId>) =>
    sql`with gone as (
        delete from webhook_queue
        where webhook_id = ${webhookId} and status = 'taken' and id = any(${column.int8(expired)}) returning *
      )
      insert into webhook_deliveries (webhook_id, id, event_id, event, status, is_test, attempt_count, attempts, error,
        created_at)
      select webhook_id, id, event_id, event, 'failed', is_test, attempt_count, attempts, attempts -> -1 ->> 'error',
        created_at
      from gone`

  return { insert, insertSkipped, take, giveBack, nextDue, neglected, backlog, skip, expire }
}))
