import { PgClient } from "@effect/sql-pg"
import { Context, DateTime, Duration, Effect, Layer, Schema } from "effect"
import { CanceledMessage } from "../../../messages/MessageChanges.ts"
import { column } from "../../../platform/database/column.ts"
import * as Query from "../../../platform/database/Query.ts"
import { AccountId, MessageBatchId, MessageId } from "../../../values/Ids.ts"
import { messageLabels } from "../../../values/Labels.ts"
import { firstLane } from "../../../values/TestMode.ts"
import { fromDateTime, Timestamp } from "../../../values/Timestamp.ts"
import { outOfDate, type PartTransition, SmsStatus } from "./PartState.ts"
import type { Receipt } from "./SmsProvider.ts"

/** The outcome of one attempt, ready to be written. */
export interface PartOutcome {
  readonly message_id: MessageId
  readonly part_no: number
  /** The claim that made the attempt. A later claim of the part has another number. */
  readonly claimNumber: number
  readonly isUnconfirmed: boolean
  readonly at: Timestamp
  readonly transition: PartTransition
  readonly durationMs: number
}

/** A locked message. */
export const LockedSms = Schema.Struct({
  id: MessageId,
  account_id: AccountId,
  recipient: Schema.String,
  type: Schema.String,
  status: SmsStatus,
  batch_id: Schema.NullOr(MessageBatchId),
  segments: Schema.Int,
  cost_micros: Schema.Int,
  ...messageLabels
})
export type LockedSms = typeof LockedSms.Type

const Counts = Schema.Struct({
  message_id: MessageId,
  parts: Schema.Int,
  sent: Schema.Int,
  delivered: Schema.Int,
  failed: Schema.Int,
  error_code: Schema.NullOr(Schema.String),
  error_message: Schema.NullOr(Schema.String)
})

/** A message with its next status. */
export interface StatusChange {
  readonly id: MessageId
  readonly status: "sent" | "delivered" | "failed"
  readonly at: Timestamp
  readonly error_code: string | null
  readonly error_message: string | null
}

const Ids = Schema.Array(MessageId)

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  /**
   * Locks messages until the transaction ends, and reads the database's time. All writers lock in one order, so concurrent
   * groups cannot deadlock.
   */
  const lock = Query.findAll({
    Request: Ids,
    Result: Schema.Struct({ ...LockedSms.fields, now: Timestamp }),
    execute: (ids) =>
      sql`select clock_timestamp() as now, id, account_id, recipient, type, status, batch_id, segments, cost_micros, tags, metadata, failover_id from messages
        where id = any(${column.int8(ids)}) order by id for update`
  })

  /** Locks the messages of a batch that are queued or scheduled. */
  const lockQueued = Query.findAll({
    Request: MessageBatchId,
    Result: Schema.Struct({ id: MessageId }),
    execute: (batchId) =>
      sql`select id from messages where batch_id = ${batchId} and status in ('scheduled', 'queued') order by id for update`
  })

  /** Those of the messages whose batch is canceled. */
  const inCanceledBatch = Query.findAll({
    Request: Ids,
    Result: Schema.Struct({ id: MessageId }),
    execute: (ids) =>
      sql`select m.id from messages m join message_batches b on b.id = m.batch_id
        where m.id = any(${column.int8(ids)}) and b.status = 'canceled'`
  })

  /** Cancels those of these locked messages whose parts are all queued and surely not submitted. */
  const cancelUnsent = Query.findAll({
    Request: Ids,
    Result: Schema.Struct({ ...CanceledMessage.fields, ...LockedSms.fields, canceled_at: Timestamp }),
    execute: (ids) =>
      sql`with part as (
          select message_id, status, doubts from sms_parts where message_id = any(${column.int8(ids)})
          order by message_id, part_no for update
        ), unsent as (
          select message_id from part group by message_id having bool_and(status = 'queued' and doubts = 0)
        ), ended as (
          update sms_parts p set status = 'failed', error_code = 'canceled', completed_at = now()
          from unsent u where p.message_id = u.message_id
        )
        update messages m set status = 'canceled', failed_at = now() from unsent u
        where m.id = u.message_id and m.status in ('scheduled', 'queued')
        returning m.id, m.account_id, m.channel, m.batch_id, m.recipient, m.type, m.segments, m.cost_micros, m.tags, m.metadata,
          m.failover_id, m.status, m.created_at, now() as canceled_at`
  })

  const markCanceled = (batchId: MessageBatchId) =>
    Query.run(sql`update message_batches set status = 'canceled' where id = ${batchId} and completed_at is null`)

  /**
   * Writes outcomes. A part changes only while the claim that made the attempt still holds it. Times follow the database's
   * clock; of the node's clock only differences count. The timeline has the first wait for a busy or absent provider, because
   * a row for each would cost too much.
   */
  const settle = Effect.fnUntraced(function*(outcomes: ReadonlyArray<PartOutcome>) {
    const now = fromDateTime(yield* DateTime.now)
    const of = <A>(read: (outcome: PartOutcome) => A) => outcomes.map(read)
    const delays = of(({ transition: { delay } }) => delay === undefined ? null : Duration.toMillis(delay))
    yield* Query.run(
      sql`with outcome as (select *, measured + (statement_timestamp() - ${now}::timestamptz) as at
      from unnest(${column.int8(of((r) => r.message_id))}, ${column.int4(of((r) => r.part_no))},
        ${column.int4(of((r) => r.claimNumber))}, ${column.text(of((r) => r.transition.status))},
        ${column.int4(of((r) => r.transition.attempt_count))}, ${
        column.int4(of((r) => r.transition.unconfirmed_attempts))
      },
        ${column.float8(delays)}, ${column.text(of((r) => r.transition.provider_message_id))},
        ${column.text(of((r) => r.transition.error_code))}, ${column.text(of((r) => r.transition.error_message))},
        ${column.text(of((r) => r.at))}::timestamptz[], ${column.int4(of((r) => r.durationMs))}, ${
        column.bool(of((r) => r.isUnconfirmed))
      })
        as t (message_id, part_no, claims, status, attempts, doubts, delay, provider_message_id, error_code,
          error_message, measured, duration, is_unconfirmed)
      ), changed as (update sms_parts p set status = o.status, attempt_count = o.attempts, doubts = o.doubts,
        due_at = now() + o.delay * interval '1 millisecond', provider_message_id = o.provider_message_id,
        error_code = o.error_code, error_message = o.error_message,
        sent_at = case when o.status = 'sent' then o.at end, completed_at = case when o.status = 'failed' then o.at end
      from outcome o
      where p.message_id = o.message_id and p.part_no = o.part_no and p.status = 'sending' and p.claims = o.claims
      returning p.*, o.at, o.duration, o.is_unconfirmed)
      insert into message_attempts (account_id, channel, message_id, part, at, attempt, outcome, duration_ms, peer, reply,
        next_at)
      select m.account_id, 'sms', c.message_id, c.part_no,
        least(greatest(c.at, now() - interval '1 hour'), now() + interval '1 hour'), greatest(1, c.attempt_count + c.doubts),
        case when c.status = 'sent' then 'accepted' when c.is_unconfirmed then 'unconfirmed'
          when c.status = 'queued' then 'deferred' else 'refused' end, c.duration, c.provider,
        coalesce(c.error_code || coalesce(': ' || c.error_message, ''), c.error_message, c.provider_message_id),
        case when c.status = 'queued' then c.due_at end
      from changed c join messages m on m.id = c.message_id
      where c.status <> 'queued' or c.error_code is not null or c.is_unconfirmed or c.claims = 1`
    )
  })

  const given = (receipts: ReadonlyArray<Receipt>) =>
    sql`unnest(${column.text(receipts.map((r) => r.provider))},
      ${column.text(receipts.map((r) => r.provider_message_id))}, ${column.text(receipts.map((r) => r.state))},
      ${column.text(receipts.map((r) => r.error_code))}, ${column.text(receipts.map((r) => r.error_message))})
      with ordinality as r (provider, provider_message_id, state, error_code, error_message, position)`

  /**
   * The message of each receipt in their order, null where no sent part has that id. Carriers reuse ids, so a receipt that
   * precedes the answer does not belong to the part that had the id before. The newest of several sent parts counts.
   */
  const findMessages = (receipts: ReadonlyArray<Receipt>) =>
    Query.findAll({
      Request: Schema.Void,
      Result: Schema.Struct({ message_id: Schema.NullOr(MessageId) }),
      execute: () =>
        sql`select (select p.message_id from sms_parts p
            where p.provider = r.provider and p.provider_message_id = r.provider_message_id and p.status = 'sent'
            order by p.message_id desc limit 1) as message_id
          from ${given(receipts)} order by r.position`
    })()

  /** Applies receipts. A delivered or failed part keeps its status. */
  const applyReceipts = (receipts: ReadonlyArray<Receipt>, ids: ReadonlyArray<MessageId>) =>
    Query.run(sql`update sms_parts p set status = r.state, error_code = r.error_code, error_message = r.error_message,
        completed_at = now()
      from (select distinct on (provider, provider_message_id) * from ${given(receipts)}
        order by provider, provider_message_id, position) r
      where p.provider = r.provider and p.provider_message_id = r.provider_message_id and p.status = 'sent'
        and p.message_id = any(${column.int8(ids)})`)

  /** Keeps receipts that precede the answer to their submit. */
  const keepUnmatched = (receipts: ReadonlyArray<Receipt>) =>
    Query.run(sql`insert into sms_unmatched_receipts (provider, provider_message_id, state, error_code, error_message)
      select provider, provider_message_id, state, error_code, error_message from ${given(receipts)} order by position`)

  /** Removes and returns the kept receipts whose part is sent by now. */
  const takeMatched = Query.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({
      provider: Schema.String,
      provider_message_id: Schema.String,
      state: Schema.Literals(["delivered", "failed"]),
      error_code: Schema.NullOr(Schema.String),
      error_message: Schema.NullOr(Schema.String)
    }),
    execute: () =>
      sql`with matched as (
          select u.id from sms_unmatched_receipts u where exists (select from sms_parts p
            where p.provider = u.provider and p.provider_message_id = u.provider_message_id and p.status = 'sent')
          order by u.id limit 500 for update skip locked
        )
        delete from sms_unmatched_receipts u using matched m where u.id = m.id
        returning u.provider, u.provider_message_id, u.state, u.error_code, u.error_message`
  })

  const counts = Query.findAll({
    Request: Ids,
    Result: Counts,
    execute: (ids) =>
      sql`select message_id, count(*) as parts, count(*) filter (where status in ('sent', 'delivered')) as sent,
          count(*) filter (where status = 'delivered') as delivered, count(*) filter (where status = 'failed') as failed,
          (array_agg(error_code order by part_no) filter (where status = 'failed'))[1] as error_code,
          (array_agg(error_message order by part_no) filter (where status = 'failed'))[1] as error_message
        from sms_parts where message_id = any(${column.int8(ids)}) group by message_id`
  })

  /** Drops kept receipts after ten minutes. */
  const pruneUnmatched = Query.run(
    sql`delete from sms_unmatched_receipts where received_at < now() - interval '10 minutes'`
  )

  /** Fails the queued parts of failed messages: no handset shows them. */
  const failUnsent = (ids: ReadonlyArray<MessageId>) =>
    Query.run(sql`update sms_parts set status = 'failed', error_code = 'message_failed', completed_at = now()
      where message_id = any(${column.int8(ids)}) and status = 'queued'`)

  const isOverdue = sql`status = 'queued' and due_at <= now() - interval '1 day'`

  /** Some live messages with a part that has been due for a day. */
  const findOverdue = Query.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ message_id: MessageId }),
    execute: () => sql`select message_id from sms_parts where ${isOverdue} and lane < ${firstLane.test} limit 500`
  })

  /** Fails those parts of messages. */
  const failOverdue = (ids: ReadonlyArray<MessageId>) =>
    Query.run(sql`update sms_parts set status = 'failed', error_code = ${outOfDate.code},
        error_message = ${outOfDate.reason}, completed_at = now()
      where message_id = any(${column.int8(ids)}) and ${isOverdue}`)

  /** Changes the status of messages. */
  const advance = (changes: ReadonlyArray<StatusChange>) =>
    Query.run(sql`with step as (
        select * from unnest(${column.int8(changes.map((s) => s.id))}, ${column.text(changes.map((s) => s.status))},
          ${column.text(changes.map((s) => s.at))}::timestamptz[], ${column.text(changes.map((s) => s.error_code))},
          ${column.text(changes.map((s) => s.error_message))}) as t (id, status, at, error_code, error_message)
      )
      update messages m set status = s.status, error_code = s.error_code, error_message = s.error_message,
        sent_at = case when s.status in ('sent', 'delivered') then coalesce(m.sent_at, s.at) else m.sent_at end,
        delivered_at = case when s.status = 'delivered' then s.at end,
        failed_at = case when s.status = 'failed' then s.at end
      from step s where m.id = s.id`)

  return {
    lock,
    lockQueued,
    inCanceledBatch,
    cancelUnsent,
    markCanceled,
    settle,
    findMessages,
    applyReceipts,
    keepUnmatched,
    takeMatched,
    pruneUnmatched,
    counts,
    failUnsent,
    findOverdue,
    failOverdue,
    advance
  }
})

/** SQL of status updates: those of parts and of their messages. */
export class PartStatusRepo
  extends Context.Service<PartStatusRepo>()("messaging-service/channels/sms/parts/PartStatusRepo", { make })
{
  static readonly layer = Layer.effect(PartStatusRepo, make)
}
