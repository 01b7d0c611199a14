import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import { column } from "../../platform/database/column.ts"
import * as Query from "../../platform/database/Query.ts"
import { DeliveryId, WebhookId } from "../../values/Ids.ts"
import { Timestamp } from "../../values/Timestamp.ts"
import { recordRecovered } from "../recovery/RecoveryRepo.ts"
import { WakeUpReason } from "./WebhookEntity.ts"

/** A delivery that its webhook's actor has claimed, or got by local dispatch. */
const ClaimedDelivery = Schema.Struct({
  id: DeliveryId,
  event_id: Schema.String,
  event: Schema.String,
  attempt_count: Schema.Int,
  /** Identifies the claim: a later claim of the row has another time. Null if it came by local dispatch. */
  claimed_at: Schema.NullOr(Timestamp),
  is_test: Schema.Boolean,
  /** Whether every attempt so far met 410 Gone. */
  all_gone: Schema.Boolean,
  body: Schema.Uint8Array
})
export type ClaimedDelivery = typeof ClaimedDelivery.Type

/** A new row of the queue. */
export interface NewDelivery {
  readonly webhookId: WebhookId
  readonly eventId: string
  readonly event: string
}

/** An event that is recorded for a webhook without an attempt. */
export interface SkippedDelivery extends NewDelivery {
  readonly error: string
}

const Inserted = Schema.Tuple([Schema.Struct({ ids: Schema.Array(DeliveryId) })])

const ids = (rows: ReadonlyArray<{ readonly webhookId: WebhookId }>) => column.int8(rows.map((row) => row.webhookId))
const events = (rows: ReadonlyArray<{ readonly eventId: string }>) => column.text(rows.map((row) => row.eventId))
const names = (rows: ReadonlyArray<{ readonly event: string }>) => column.text(rows.map((row) => row.event))

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  const inserted = (statement: Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>) =>
    statement.pipe(
      Effect.flatMap(Schema.decodeUnknownEffect(Inserted)),
      Effect.map(([{ ids }]) => ids),
      Effect.orDie
    )

  /** Queues deliveries; returns their ids in the same order. */
  const insert = (rows: ReadonlyArray<NewDelivery>) =>
    inserted(sql`with given as materialized (
        select nextval('webhook_delivery_ids') as id, *
        from unnest(${ids(rows)}, ${events(rows)}, ${names(rows)})
          with ordinality as t (webhook_id, event_id, event, place)
      ), queued as (
        insert into webhook_queue (id, webhook_id, event_id, event, status)
        select id, webhook_id, event_id, event, 'pending' from given
      )
      select array_agg(id order by place) as ids from given`)

  /** Records deliveries that are not sent; returns their ids in the same order. */
  const insertSkipped = (rows: ReadonlyArray<SkippedDelivery>) =>
    inserted(sql`with given as materialized (
        select nextval('webhook_delivery_ids') as id, *
        from unnest(${ids(rows)}, ${events(rows)}, ${names(rows)}, ${column.text(rows.map(({ error }) => error))})
          with ordinality as t (webhook_id, event_id, event, error, place)
      ), skipped as (
        insert into webhook_deliveries (id, created_at, status, attempt_count, webhook_id, event_id, event, error)
        select id, now(), 'skipped', 0, webhook_id, event_id, event, error from given
      )
      select array_agg(id order by place) as ids from given`)

  /** Claims first attempts in the order of their events, without those in memory, and due retries. */
  const claim = Query.findAll({
    Request: Schema.Struct({
      webhookId: WebhookId,
      firstAttempts: Schema.Int,
      retries: Schema.Int,
      inMemory: Schema.Array(DeliveryId)
    }),
    Result: Schema.Struct({ ...ClaimedDelivery.fields, body: Schema.NullOr(Schema.Uint8Array) }),
    execute: ({ firstAttempts, inMemory, retries, webhookId }) =>
      sql`with first as (
          select ctid from webhook_queue
          where webhook_id = ${webhookId} and status = 'pending' and id <> all(${column.int8(inMemory)})
          order by id limit ${firstAttempts} for update skip locked
        ), retry as (
          select ctid from webhook_queue where webhook_id = ${webhookId} and status = 'retrying' and due_at <= now()
          order by due_at, id limit ${retries} for update skip locked
        ), claimed as (
          update webhook_queue set status = 'taken', due_at = now()
          where ctid = any(array(select ctid from first union all select ctid from retry))
          returning id, event_id, event, attempt_count, attempts, due_at, is_test
        )
        select c.id, c.event_id, c.event, c.attempt_count, c.due_at as claimed_at, c.is_test, e.body,
          not exists (select from jsonb_array_elements(c.attempts) a where a -> 'response_code' <> '410') as all_gone
        from claimed c left join events e on e.id = c.event_id order by c.id`
  })

  /** Releases these claims, unless another owner has reclaimed them. */
  const releaseClaims = (webhookId: WebhookId, claimed: ReadonlyArray<ClaimedDelivery>) =>
    Query.run(sql`update webhook_queue q
      set due_at = now(), status = case when attempt_count = 0 then 'pending' else 'retrying' end
      from unnest(${column.int8(claimed.map(({ id }) => id))},
        ${column.text(claimed.map(({ claimed_at }) => claimed_at))}::timestamptz[]) as t (id, claimed_at)
      where q.webhook_id = ${webhookId} and q.status = 'taken' and q.id = t.id and q.due_at = t.claimed_at`)

  /** Releases all claims but those in memory, also those of former owners. */
  const release = (webhookId: WebhookId, inMemory: ReadonlyArray<DeliveryId>) =>
    Query.run(sql`update webhook_queue
      set due_at = now(), status = case when attempt_count = 0 then 'pending' else 'retrying' end
      where webhook_id = ${webhookId} and status = 'taken' and id <> all(${column.int8(inMemory)})`)

  /** Milliseconds until the next retry of a webhook is due; null when no retry waits. */
  const nextDue = Query.findOne({
    Request: WebhookId,
    Result: Schema.Struct({ millis: Schema.NullOr(Schema.Finite) }),
    execute: (webhookId) =>
      sql`select extract(epoch from min(due_at) - now())::float8 * 1000 as millis from webhook_queue
        where webhook_id = ${webhookId} and status = 'retrying'`
  })

  /** The webhooks that have rows in a status, by one step in its index for each, however many webhooks have none. */
  const queuedIn = (status: "pending" | "retrying" | "taken") => {
    const least = (after: Statement.Fragment) =>
      sql`select webhook_id from webhook_queue where status = ${sql.literal(`'${status}'`)} ${after}
        order by webhook_id limit 1`
    return sql`(with recursive queued as (
        (${least(sql``)}) union all select (${least(sql`and webhook_id > queued.webhook_id`)}) from queued
          where webhook_id is not null
      ) select webhook_id from queued)`
  }

  /**
   * Active webhooks whose work has stalled: due for a second, claimed for longer than most attempts last, with a recovery
   * that no actor moves, or suspended for a backlog that is empty, so that no row would ever wake the actor that resumes them.
   * Visits no other webhooks.
   */
  const findStalled = Query.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ id: WebhookId, reason: WakeUpReason }),
    execute: () =>
      sql`select id, case when is_waiting then 'waiting' when is_orphaned then 'orphaned' else 'claimed' end as reason from (
        select id, exists (select from (
              select created_at from webhook_queue q where q.webhook_id = w.id and q.status = 'pending'
              order by q.id limit 1) as oldest
            where oldest.created_at < now() - interval '1 second')
          or exists (select from webhook_queue q where q.webhook_id = w.id and q.status = 'retrying'
            and q.due_at < now() - interval '1 second')
          or unhealthy_reason = 'backlog_full'
            and not exists (select from webhook_queue q where q.webhook_id = w.id and q.status = 'pending')
            and not exists (select from webhook_queue q where q.webhook_id = w.id and q.status = 'retrying')
          as is_waiting,
          exists (select from webhook_queue q where q.webhook_id = w.id and q.status = 'taken'
            and q.due_at < now() - interval '2 seconds')
          or unhealthy_reason is null and exists (select from webhook_recoveries r where r.webhook_id = w.id
            and r.completed_at is null and not r.is_queued and r.moved_at < now() - interval '5 seconds') as is_claimed,
          exists (select from webhook_queue q where q.webhook_id = w.id and q.status = 'taken'
            and q.due_at < now() - interval '1 minute') as is_orphaned
        -- The offset keeps the condition below from running for webhooks that are not among these.
        from (select * from webhooks where is_active and id in (
          ${queuedIn("pending")} union ${queuedIn("retrying")} union ${queuedIn("taken")}
          union select id from webhooks where unhealthy_reason = 'backlog_full'
          union select webhook_id from webhook_recoveries where completed_at is null and not is_queued) offset 0) w
        ) as webhook
      where is_waiting or is_claimed`
  })

  /** How many deliveries of a webhook wait for their first or next attempt, counted up to `limit`. */
  const countBacklog = Query.findOne({
    Request: Schema.Struct({ webhookId: WebhookId, limit: Schema.Int }),
    Result: Schema.Struct({ count: Schema.Int }),
    execute: ({ limit, webhookId }) =>
      sql`select count(*) as count from (
        select from webhook_queue where webhook_id = ${webhookId} and status = 'pending'
        union all select from webhook_queue where webhook_id = ${webhookId} and status = 'retrying'
        limit ${limit}) as waiting`
  })

  /** Ends up to a thousand deliveries without another attempt, but not those in memory; returns how many. */
  const skip = Query.findOne({
    Request: Schema.Struct({ webhookId: WebhookId, error: Schema.String, inMemory: Schema.Array(DeliveryId) }),
    Result: Schema.Struct({ count: Schema.Int }),
    execute: ({ error, inMemory, webhookId }) =>
      sql`with unhealthy as (
          -- Locked, so that the deliveries of a webhook that was just reactivated are not skipped.
          select from webhooks where id = ${webhookId} and unhealthy_reason in ('failing', 'gone') for share
        ), first as (
          select ctid from webhook_queue
          where webhook_id = ${webhookId} and status = 'pending' and id <> all(${column.int8(inMemory)})
            and exists (select from unhealthy) limit 500 for update
        ), retry as (
          select ctid from webhook_queue
          where webhook_id = ${webhookId} and status = 'retrying' and exists (select from unhealthy) limit 500 for update
        ), gone as (
          delete from webhook_queue where ctid = any(array(select ctid from first union all select ctid from retry))
          returning *
        ), ended as (
          insert into webhook_deliveries (webhook_id, id, event_id, event, status, is_test, attempt_count, attempts, error,
            created_at)
          select webhook_id, id, event_id, event, 'skipped', is_test, attempt_count, attempts, ${error}, created_at
          from gone
        ), recovered as (
          ${recordRecovered(sql, sql`select recovery_id, false as is_delivered from gone`)}
        )
        select count(*) as count from gone`
  })

  /** Ends deliveries whose payload has expired, because there is nothing to send. */
  const expire = (webhookId: WebhookId, expired: ReadonlyArray<DeliveryId>) =>
    Query.run(sql`with gone as (
        delete from webhook_queue
        where webhook_id = ${webhookId} and status = 'taken' and id = any(${column.int8(expired)}) returning *
      ), recovered as (
        ${recordRecovered(sql, sql`select recovery_id, false as is_delivered from gone`)}
      )
      insert into webhook_deliveries (webhook_id, id, event_id, event, status, is_test, attempt_count, attempts, error,
        created_at)
      select webhook_id, id, event_id, event, 'failed', is_test, attempt_count, attempts, attempts -> -1 ->> 'error',
        created_at
      from gone`)

  return { insert, insertSkipped, claim, releaseClaims, release, nextDue, findStalled, countBacklog, skip, expire }
})

/** SQL of `webhook_queue`. `DeliveryOutcomes` writes the outcomes of attempts. */
export class QueueRepo extends Context.Service<QueueRepo>()("messaging-service/webhooks/delivery/QueueRepo", { make }) {
  static readonly layer = Layer.effect(QueueRepo, make)
}
