import { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { SqlSchema, type Statement } from "effect/sql"
import { MessageContent } from "../../../messages/Message.ts"
import { CodeSeed } from "../../../platform/crypto/oneTimeCode.ts"
import { column } from "../../../platform/database/column.ts"
import { repository } from "../../../platform/database/repository.ts"
import { MessageBatchId, MessageId, WhatsAppSessionId } from "../../../values/Ids.ts"
import { MessageType } from "../content/MessageContent.ts"
import type { OwnedSession } from "../model/Session.ts"

/** A message that is about to be sent. */
const QueuedMessage = Schema.Struct({
  message_id: MessageId,
  whatsapp_id: Schema.String,
  lane: Schema.Int,
  delay_ms: Schema.Int,
  attempt_count: Schema.Int,
  recipient: Schema.String,
  type: MessageType,
  content: MessageContent,
  file_id: Schema.NullOr(Schema.Int),
  batch_id: Schema.NullOr(MessageBatchId),
  chat: Schema.NullOr(Schema.String),
  /** Null as long as it has not been made. */
  body: Schema.NullOr(Schema.Uint8Array),
  /** Of the code that content and body have a mask for. */
  code_seed: Schema.NullOr(CodeSeed)
})
export type QueuedMessage = typeof QueuedMessage.Type

/** A message as it goes into a connection. */
const WrittenMessage = Schema.Struct({
  message_id: MessageId,
  whatsapp_id: Schema.String,
  attempt_count: Schema.Int,
  chat: Schema.String,
  body: Schema.Uint8Array,
  code_seed: Schema.NullOr(CodeSeed)
})
export type WrittenMessage = typeof WrittenMessage.Type

const One = Schema.Struct({ sessionId: WhatsAppSessionId, whatsappId: Schema.String })

/** SQL of the outbox in the hands of the owner of a session. */
export const makeOutboxRepo = repository(Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  const media = sql.literal("('image', 'video', 'audio', 'document')")

  /** What was accepted for a phone that has logged the session out is not for the next one. */
  const ofPairing = (sessionId: number) =>
    sql`o.pairing = (select pairing from whatsapp_sessions where id = ${sessionId})`

  const due = (sessionId: number, limit: number, which: Statement.Fragment) =>
    sql`select o.message_id, o.whatsapp_id, o.lane, o.delay_ms, o.attempt_count, m.recipient, m.type, m.content, o.file_id,
        m.batch_id, o.chat, o.body, o.code_seed
      from whatsapp_outbox o join messages m on m.id = o.message_id
      where o.session_id = ${sessionId} and o.status = 'queued' and o.due_at <= now() and ${which}
        and ${ofPairing(sessionId)}
      order by o.lane, o.message_id limit ${limit}`

  const Due = Schema.Struct({ sessionId: WhatsAppSessionId, limit: Schema.Int })

  /** Those that are next, messages of their own before batches; a medium once its file is with WhatsApp. */
  const next = SqlSchema.findAll({
    Request: Due,
    Result: QueuedMessage,
    execute: ({ limit, sessionId }) => due(sessionId, limit, sql`(m.type not in ${media} or o.body is not null)`)
  })

  /** Media whose files are next. */
  const nextFiles = SqlSchema.findAll({
    Request: Due,
    Result: QueuedMessage,
    execute: ({ limit, sessionId }) => due(sessionId, limit, sql`m.type in ${media} and o.body is null`)
  })

  /** A medium whose file is with WhatsApp. */
  const keep = (id: MessageId, chat: string, body: Uint8Array) =>
    sql`update whatsapp_outbox set chat = ${chat}, body = ${body} where message_id = ${id} and status = 'queued'`

  /** What was written into a connection before and was not acknowledged. */
  const unacknowledged = SqlSchema.findAll({
    Request: WhatsAppSessionId,
    Result: WrittenMessage,
    execute: (sessionId) =>
      sql`select o.message_id, o.whatsapp_id, o.attempt_count, o.chat, o.body, o.code_seed from whatsapp_outbox o
        where o.session_id = ${sessionId} and o.status = 'written' and ${ofPairing(sessionId)} order by o.message_id`
  })

  /** When messages were written within the last day, in milliseconds before now, newest first. */
  const recent = SqlSchema.findAll({
    Request: Schema.Struct({ sessionId: WhatsAppSessionId, limit: Schema.Int }),
    Result: Schema.Struct({ age: Schema.Finite }),
    execute: ({ limit, sessionId }) =>
      sql`select extract(epoch from now() - written_at)::float8 * 1000 as age from whatsapp_outbox
        where session_id = ${sessionId} and written_at > now() - interval '1 day' order by written_at desc limit ${limit}`
  })

  /**
   * Writes down, before anything goes into the connection, what is going there. Answers with those that are to go: none
   * when the session has another owner, whose connection they go into instead. Attempts to make one ready are not
   * attempts to send it.
   */
  const write = (
    { epoch, id }: OwnedSession,
    messages: ReadonlyArray<Pick<WrittenMessage, "message_id" | "chat" | "body">>
  ) =>
    SqlSchema.findAll({
      Request: Schema.Void,
      Result: Schema.Struct({ message_id: MessageId }),
      execute: () =>
        sql`with owner as (
            select id, pairing from whatsapp_sessions
            where id = ${id} and epoch = ${epoch} and desired <> 'removed' for share
          )
          update whatsapp_outbox o set status = 'written', written_at = coalesce(o.written_at, now()),
            attempt_count = case o.status when 'queued' then 1 else o.attempt_count + 1 end,
            chat = t.chat, body = t.body
          from owner, unnest(${column.int8(messages.map(({ message_id }) => message_id))},
            ${column.text(messages.map(({ chat }) => chat))}, ${column.bytea(messages.map(({ body }) => body))})
            as t (message_id, chat, body)
          where o.message_id = t.message_id and o.session_id = owner.id and o.pairing = owner.pairing
            and o.status in ('queued', 'written')
          returning o.message_id`
    })()

  /** Puts off a message that could not be sent for now. */
  const postpone = (id: MessageId, seconds: number) =>
    sql`update whatsapp_outbox set attempt_count = attempt_count + 1, due_at = now() + ${seconds}::float8 * interval '1 second'
      where message_id = ${id} and status = 'queued'`

  const file = SqlSchema.findOneOption({
    Request: Schema.Int,
    Result: Schema.Struct({ content: Schema.Uint8Array }),
    execute: (id) => sql`select content from whatsapp_files where id = ${id}`
  })

  /** As long as it is kept. */
  const body = SqlSchema.findOneOption({
    Request: One,
    Result: Schema.Struct({ body: Schema.Uint8Array, code_seed: Schema.NullOr(CodeSeed) }),
    execute: ({ sessionId, whatsappId }) =>
      sql`select body, code_seed from whatsapp_outbox
        where session_id = ${sessionId} and whatsapp_id = ${whatsappId} and body is not null`
  })

  /** What WhatsApp calls a message that this session has sent. */
  const quoted = SqlSchema.findOneOption({
    Request: Schema.Struct({ sessionId: WhatsAppSessionId, messageId: MessageId }),
    Result: Schema.Struct({ chat: Schema.String, id: Schema.String }),
    execute: ({ messageId, sessionId }) =>
      sql`select chat, whatsapp_id as id from whatsapp_outbox
        where message_id = ${messageId} and session_id = ${sessionId} and chat is not null and status <> 'failed'`
  })

  /** The chat of a message of either direction as `to` names it; null where the number of its sender is hidden. */
  const chatOf = SqlSchema.findOneOption({
    Request: Schema.Struct({ sessionId: WhatsAppSessionId, messageId: MessageId }),
    Result: Schema.Struct({ chat: Schema.NullOr(Schema.String) }),
    execute: ({ messageId, sessionId }) =>
      sql`select case when m.direction = 'out' then m.recipient when i.chat like '%@g.us' then i.chat else m.sender end
          as chat
        from messages m left join whatsapp_inbox i on i.message_id = m.id
        where m.id = ${messageId} and m.session_id = ${sessionId}`
  })

  /** Which of the sessions have a message that may go. */
  const waiting = SqlSchema.findAll({
    Request: Schema.Array(WhatsAppSessionId),
    Result: Schema.Struct({ id: WhatsAppSessionId }),
    execute: (ids) =>
      sql`select s.id from unnest(${column.int8(ids)}) as t (id) join whatsapp_sessions s using (id) where exists (
        select from whatsapp_outbox o where o.session_id = s.id and o.status = 'queued' and o.due_at <= now()
          and o.pairing = s.pairing)`
  })

  /**
   * Messages that nobody will send any more, because their session is gone or the phone that they were for has logged
   * it out.
   */
  const stranded = SqlSchema.findAll({
    Request: Schema.Int,
    Result: Schema.Struct({
      session_id: WhatsAppSessionId,
      whatsapp_id: Schema.String,
      is_gone: Schema.Boolean
    }),
    execute: (limit) =>
      sql`select o.session_id, o.whatsapp_id, s.id is null as is_gone from whatsapp_outbox o
        left join whatsapp_sessions s on s.id = o.session_id and s.desired <> 'removed'
        where o.status in ('queued', 'written')
          and (s.id is null or s.pairing <> o.pairing)
        limit ${limit}`
  })

  return {
    next,
    nextFiles,
    keep,
    quoted,
    chatOf,
    unacknowledged,
    recent,
    write,
    postpone,
    file,
    body,
    waiting,
    stranded
  }
}))
