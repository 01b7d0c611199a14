import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import { CanceledMessage } from "../../../messages/MessageChanges.ts"
import { column } from "../../../platform/database/column.ts"
import * as Query from "../../../platform/database/Query.ts"
import { AccountId, MessageBatchId, MessageId, WhatsAppSessionId } from "../../../values/Ids.ts"
import { messageLabels } from "../../../values/Labels.ts"
import { Timestamp } from "../../../values/Timestamp.ts"
import { OwnedSession } from "../model/Session.ts"
import type { ReportedStatus } from "./OutboxState.ts"

/** A status update of one message, by its id at WhatsApp. */
export interface StatusUpdate {
  readonly sessionId: WhatsAppSessionId
  readonly whatsappId: string
  readonly status: ReportedStatus
  readonly error?: { readonly code: string; readonly message: string }
}

/** A message whose status may change. Its outbox row is locked. */
const LockedMessage = Schema.Struct({
  message_id: MessageId,
  session_id: WhatsAppSessionId,
  whatsapp_id: Schema.String,
  status: Schema.Literals(["scheduled", "queued", "written", "sent", "delivered", "read", "failed"]),
  account_id: AccountId,
  recipient: Schema.String,
  type: Schema.String,
  batch_id: Schema.NullOr(MessageBatchId),
  ...messageLabels
})
export type LockedMessage = typeof LockedMessage.Type

/** The new status of a message, and how many milliseconds ago it reached each status. Null leaves a time unchanged. */
export interface Step {
  readonly id: MessageId
  readonly status: ReportedStatus
  readonly sent: number | null
  readonly delivered: number | null
  readonly read: number | null
  readonly failed: number | null
  readonly errorCode: string | null
  readonly errorMessage: string | null
}

/** When a message was delivered and read. Times of statuses not reached yet default to now and are never published. */
const Moments = Schema.Struct({ id: MessageId, delivered_at: Timestamp, read_at: Timestamp })
export type Moments = typeof Moments.Type

/** A message that was canceled before a session sent it. */
const Canceled = Schema.Struct({
  id: MessageId,
  account_id: AccountId,
  session_id: WhatsAppSessionId,
  recipient: Schema.String,
  type: Schema.String,
  ...messageLabels,
  canceled_at: Timestamp
})
export type Canceled = typeof Canceled.Type

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  /** Locks the session until the transaction ends. None if it has another owner. */
  const lockOwner = Query.findOneOption({
    Request: OwnedSession,
    Result: Schema.Struct({ id: WhatsAppSessionId }),
    execute: ({ epoch, id }) =>
      sql`select id from whatsapp_sessions where id = ${id} and epoch = ${epoch} and desired <> 'removed' for share`
  })

  /** Locks the messages until the transaction ends, in one order, so that concurrent groups cannot deadlock. */
  const lock = (updates: ReadonlyArray<StatusUpdate>) =>
    Query.findAll({
      Request: Schema.Void,
      Result: LockedMessage,
      execute: () =>
        sql`select o.message_id, o.session_id, o.whatsapp_id, o.status, m.account_id, m.recipient, m.type, m.batch_id, m.tags,
            m.metadata, m.failover_id
          from whatsapp_outbox o join messages m on m.id = o.message_id
          where o.message_id in (
            select f.message_id from unnest(${column.int8(updates.map(({ sessionId }) => sessionId))},
              ${column.text(updates.map(({ whatsappId }) => whatsappId))}) as t (session_id, whatsapp_id)
            join whatsapp_outbox f using (session_id, whatsapp_id)
          )
          order by o.message_id for update of o`
    })()

  /**
   * Cancels a message, or the messages of a batch, that were not written to a connection. Scheduled messages are locked
   * first, as their release locks them: it holds a message and then waits for its row of the outbox.
   */
  const cancelQueued = Query.findAll({
    Request: Schema.Union([MessageBatchId, MessageId]),
    Result: Schema.Struct({ ...CanceledMessage.fields, ...Canceled.fields }),
    execute: (which) => {
      const ofThese = typeof which === "string" ? sql`m.batch_id = ${which}` : sql`m.id = ${which}`
      return sql`with scheduled as (
          select m.id from messages m where ${ofThese} and m.status = 'scheduled' order by m.id for update
        ), unsent as (
          -- The count waits for the locks above.
          select o.message_id from whatsapp_outbox o join messages m on m.id = o.message_id
          where ${ofThese} and o.status in ('scheduled', 'queued') and (select count(*) from scheduled) >= 0
          order by o.message_id for update of o
        ), ended as (
          update whatsapp_outbox o set status = 'failed' from unsent u where o.message_id = u.message_id
        )
        update messages m set status = 'canceled', failed_at = now() from unsent u where m.id = u.message_id
        returning m.id, m.account_id, m.channel, m.session_id, m.batch_id, m.recipient, m.type, m.segments, m.cost_micros, m.tags,
          m.metadata, m.failover_id, m.created_at, now() as canceled_at`
    }
  })

  const markCanceled = (batchId: MessageBatchId) =>
    Query.run(sql`update message_batches set status = 'canceled' where id = ${batchId} and completed_at is null`)

  /** Times follow the database's clock; of the node's clock only differences count. Delivery never precedes sending. */
  const step = (steps: ReadonlyArray<Step>) => {
    const text = (read: (step: Step) => string | null) => column.text(steps.map(read))
    const ago = (read: (step: Step) => number | null) => column.int8(steps.map(read))
    return Query.findAll({
      Request: Schema.Void,
      Result: Moments,
      execute: () =>
        sql`with step as (
            select id, status, clock.now - sent * millisecond as sent_at, clock.now - delivered * millisecond as delivered_at,
              clock.now - read * millisecond as read_at, clock.now - failed * millisecond as failed_at,
              error_code, error_message
            from unnest(${ago((s) => s.id)}, ${text((s) => s.status)}, ${ago((s) => s.sent)}, ${
          ago((s) => s.delivered)
        }, ${ago((s) => s.read)}, ${ago((s) => s.failed)}, ${text((s) => s.errorCode)}, ${text((s) => s.errorMessage)})
              as t (id, status, sent, delivered, read, failed, error_code, error_message),
              (select clock_timestamp() as now, interval '1 millisecond' as millisecond) as clock
          ), outbox as (
            update whatsapp_outbox o set status = s.status from step s where o.message_id = s.id
          ), attempted as (
            insert into message_attempts (account_id, channel, message_id, at, attempt, outcome, duration_ms, peer, reply)
            select m.account_id, 'whatsapp', s.id, coalesce(s.sent_at, s.failed_at), greatest(o.attempt_count, 1),
              case when s.sent_at is null then 'refused' else 'accepted' end,
              extract(epoch from coalesce(s.sent_at, s.failed_at) - o.written_at)::float8 * 1000, 'whatsapp',
              case when s.sent_at is null then coalesce(s.error_code || ': ' || s.error_message, s.error_code)
                else 'acknowledged' end
            from step s join whatsapp_outbox o on o.message_id = s.id join messages m on m.id = s.id
            where s.sent_at is not null or s.failed_at is not null
          )
          update messages m set status = s.status, error_code = s.error_code, error_message = s.error_message,
            sent_at = coalesce(m.sent_at, s.sent_at),
            delivered_at = coalesce(m.delivered_at, case when s.delivered_at is not null then greatest(s.delivered_at, m.sent_at) end),
            read_at = coalesce(m.read_at, case when s.read_at is not null then greatest(s.read_at, m.delivered_at, m.sent_at) end),
            failed_at = coalesce(m.failed_at, s.failed_at)
          from step s where m.id = s.id
          returning m.id, coalesce(m.delivered_at, now()) as delivered_at, coalesce(m.read_at, now()) as read_at`
    })()
  }

  /** Adds to the sent messages of sessions; a deleted session has no count. */
  const countSent = (counts: ReadonlyMap<WhatsAppSessionId, number>) => {
    const ids = [...counts.keys()].toSorted((a, b) => a - b)
    return Query.run(sql`insert into whatsapp_message_counts as c (session_id, messages_count)
      select s.id, t.n from unnest(${column.int8(ids)}, ${
      column.int8(ids.map((id) => counts.get(id) ?? 0))
    }) as t (id, n)
      join whatsapp_sessions s on s.id = t.id order by s.id
      on conflict (session_id) do update set messages_count = c.messages_count + excluded.messages_count`)
  }

  return { lockOwner, lock, cancelQueued, markCanceled, step, countSent }
})

/** Stores status updates of messages, and counts the sent messages of sessions. */
export class OutboxStatusRepo
  extends Context.Service<OutboxStatusRepo>()("messaging-service/channels/whatsapp/outbox/OutboxStatusRepo", { make })
{
  static readonly layer = Layer.effect(OutboxStatusRepo, make)
}
