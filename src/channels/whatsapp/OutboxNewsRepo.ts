import { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { SqlSchema } from "effect/sql"
import { column } from "../../platform/database/column.ts"
import { repository } from "../../platform/database/repository.ts"
import { AccountId, MessageBatchId, MessageId, WhatsAppSessionId } from "../../values/Ids.ts"
import type { Timestamp } from "../../values/Timestamp.ts"
import type { Heard } from "./OutboxState.ts"

/** News of one message by its name at WhatsApp. */
export interface News {
  readonly sessionId: WhatsAppSessionId
  readonly whatsappId: string
  readonly heard: Heard
  readonly at: Timestamp
  readonly error?: { readonly code: string; readonly message: string }
}

/** A message as what happens to it is decided and told. */
const LockedMessage = Schema.Struct({
  message_id: MessageId,
  session_id: WhatsAppSessionId,
  whatsapp_id: Schema.String,
  status: Schema.Literals(["queued", "written", "sent", "delivered", "read", "failed"]),
  account_id: AccountId,
  recipient: Schema.String,
  type: Schema.String,
  batch_id: Schema.NullOr(MessageBatchId)
})
export type LockedMessage = typeof LockedMessage.Type

/** What a message is from now on; moments that are null stay what they are. */
export interface Step {
  readonly id: MessageId
  readonly status: Heard
  readonly sentAt: Timestamp | null
  readonly deliveredAt: Timestamp | null
  readonly readAt: Timestamp | null
  readonly failedAt: Timestamp | null
  readonly errorCode: string | null
  readonly errorMessage: string | null
}

/** SQL of what becomes of messages, of their batches and of the counts of sessions. */
export const makeOutboxNewsRepo = repository(Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  /** Held until the transaction ends, in one order by everybody, so that groups written at the same time cannot deadlock. */
  const lock = (news: ReadonlyArray<News>) =>
    SqlSchema.findAll({
      Request: Schema.Void,
      Result: LockedMessage,
      execute: () =>
        sql`select o.message_id, o.session_id, o.whatsapp_id, o.status, m.account_id, m.recipient, m.type, m.batch_id
          from whatsapp_outbox o join messages m on m.id = o.message_id
          where o.message_id in (
            select f.message_id from unnest(${column.int8(news.map(({ sessionId }) => sessionId))},
              ${column.text(news.map(({ whatsappId }) => whatsappId))}) as t (session_id, whatsapp_id)
            join whatsapp_outbox f using (session_id, whatsapp_id)
          )
          order by o.message_id for update of o`
    })()

  const step = (steps: ReadonlyArray<Step>) => {
    const of = (read: (step: Step) => string | null) => column.text(steps.map(read))
    return sql`with step as (
        select * from unnest(${column.int8(steps.map(({ id }) => id))}, ${of((s) => s.status)},
          ${of((s) => s.sentAt)}::timestamptz[], ${of((s) => s.deliveredAt)}::timestamptz[],
          ${of((s) => s.readAt)}::timestamptz[], ${of((s) => s.failedAt)}::timestamptz[],
          ${of((s) => s.errorCode)}, ${of((s) => s.errorMessage)})
          as t (id, status, sent_at, delivered_at, read_at, failed_at, error_code, error_message)
      ), outbox as (
        update whatsapp_outbox o set status = s.status from step s where o.message_id = s.id
      )
      update messages m set status = s.status, error_code = s.error_code, error_message = s.error_message,
        sent_at = coalesce(m.sent_at, s.sent_at), delivered_at = coalesce(m.delivered_at, s.delivered_at),
        read_at = coalesce(m.read_at, s.read_at), failed_at = coalesce(m.failed_at, s.failed_at)
      from step s where m.id = s.id`
  }

  /** Messages that were sent; of a session that is gone nothing is counted. */
  const countSent = (counts: ReadonlyMap<WhatsAppSessionId, number>) => {
    const ids = [...counts.keys()].toSorted((a, b) => a - b)
    return sql`insert into whatsapp_message_counts as c (session_id, messages_count)
      select s.id, t.n from unnest(${column.int8(ids)}, ${
      column.int8(ids.map((id) => counts.get(id) ?? 0))
    }) as t (id, n)
      join whatsapp_sessions s on s.id = t.id order by s.id
      on conflict (session_id) do update set messages_count = c.messages_count + excluded.messages_count`
  }

  return { lock, step, countSent }
}))
