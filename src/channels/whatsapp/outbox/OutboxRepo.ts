import { PgClient } from "@effect/sql-pg"
import { Context, Duration, Effect, Layer, Schema } from "effect"
import type { Statement } from "effect/sql"
import { MessageContent } from "../../../messages/Message.ts"
import { CodeSeed } from "../../../platform/crypto/oneTimeCode.ts"
import { column } from "../../../platform/database/column.ts"
import * as Query from "../../../platform/database/Query.ts"
import { MessageBatchId, MessageId, WhatsAppSessionId } from "../../../values/Ids.ts"
import { MessageType } from "../content/MessageContent.ts"
import type { OwnedSession } from "../model/Session.ts"

/** A message to prepare and send. */
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
  /** Null until it is prepared. */
  body: Schema.NullOr(Schema.Uint8Array),
  /** The seed of the one-time code that replaces the mask in content and body. */
  code_seed: Schema.NullOr(CodeSeed)
})
export type QueuedMessage = typeof QueuedMessage.Type

/** A prepared message, as it is written to a connection. */
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

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  const media = sql.literal("('image', 'video', 'audio', 'document')")

  /** A message that was accepted for one phone must not be sent by the next phone of the session. */
  const ofPairing = (sessionId: number) =>
    sql`o.pairing = (select pairing from whatsapp_sessions where id = ${sessionId})`

  /** The session, if it has no later owner. Locked, so that it gets none before the statement has committed. */
  const owner = ({ epoch, id }: OwnedSession) =>
    sql`owner as (
      select id, pairing from whatsapp_sessions where id = ${id} and epoch = ${epoch} and desired <> 'removed' for share
    )`

  const due = (sessionId: number, limit: number, which: Statement.Fragment) =>
    sql`select o.message_id, o.whatsapp_id, o.lane, o.delay_ms, o.attempt_count, m.recipient, m.type, m.content, o.file_id,
        m.batch_id, o.chat, o.body, o.code_seed
      from whatsapp_outbox o join messages m on m.id = o.message_id
      where o.session_id = ${sessionId} and o.status = 'queued' and o.due_at <= now() and ${which}
        and ${ofPairing(sessionId)}
      order by o.lane, o.message_id limit ${limit}`

  const Due = Schema.Struct({ sessionId: WhatsAppSessionId, limit: Schema.Int })

  /** Due messages, single ones before those of batches. A medium is due once its file is uploaded. */
  const next = Query.findAll({
    Request: Due,
    Result: QueuedMessage,
    execute: ({ limit, sessionId }) => due(sessionId, limit, sql`(m.type not in ${media} or o.body is not null)`)
  })

  /** Due media whose files are not uploaded. A row of an earlier version may be a text. */
  const nextFiles = Query.findAll({
    Request: Due,
    Result: QueuedMessage,
    execute: ({ limit, sessionId }) =>
      due(sessionId, limit, sql`o.needs_file and m.type in ${media} and o.body is null`)
  })

  /** Stores a prepared medium whose file is uploaded, unless the session has another owner. */
  const storePrepared = (
    owned: OwnedSession,
    { body, chat, message_id }: Pick<WrittenMessage, "message_id" | "chat" | "body">
  ) =>
    Query.run(sql`with ${owner(owned)}
      update whatsapp_outbox o set chat = ${chat}, body = ${body}, needs_file = false from owner
      where o.session_id = owner.id and o.message_id = ${message_id} and o.status = 'queued'`)

  /** Messages that were written to a connection and not acknowledged. */
  const unacknowledged = Query.findAll({
    Request: WhatsAppSessionId,
    Result: WrittenMessage,
    execute: (sessionId) =>
      sql`select o.message_id, o.whatsapp_id, o.attempt_count, o.chat, o.body, o.code_seed from whatsapp_outbox o
        where o.session_id = ${sessionId} and o.status = 'written' and ${ofPairing(sessionId)} order by o.message_id`
  })

  /** The ages in milliseconds of the messages that were written within the last day, newest first. */
  const recent = Query.findAll({
    Request: Schema.Struct({ sessionId: WhatsAppSessionId, limit: Schema.Int }),
    Result: Schema.Struct({ age: Schema.Finite }),
    execute: ({ limit, sessionId }) =>
      sql`select extract(epoch from now() - written_at)::float8 * 1000 as age from whatsapp_outbox
        where session_id = ${sessionId} and written_at > now() - interval '1 day' order by written_at desc limit ${limit}`
  })

  /**
   * Records messages before they are written to the connection. Answers with those that may be written: none when the
   * session has another owner, whose connection sends them. Attempts to prepare a message are not attempts to send it.
   */
  const write = (
    owned: OwnedSession,
    messages: ReadonlyArray<Pick<WrittenMessage, "message_id" | "chat" | "body">>
  ) =>
    Query.findAll({
      Request: Schema.Void,
      Result: Schema.Struct({ message_id: MessageId }),
      execute: () =>
        sql`with ${owner(owned)}
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

  /** Whether the session has no later owner. */
  const isOwner = ({ epoch, id }: OwnedSession) =>
    Query.findOne({
      Request: Schema.Void,
      Result: Schema.Struct({ is_owner: Schema.Boolean }),
      execute: () =>
        sql`select exists (select from whatsapp_sessions where id = ${id} and epoch = ${epoch} and desired <> 'removed')
          as is_owner`
    })()

  /** Delays a message that could not be prepared, unless the session has another owner. */
  const postpone = (owned: OwnedSession, id: MessageId, delay: Duration.Duration) =>
    Query.run(sql`with ${owner(owned)}
      update whatsapp_outbox o set attempt_count = o.attempt_count + 1,
        due_at = now() + ${Duration.toMillis(delay)}::float8 * interval '1 millisecond'
      from owner where o.session_id = owner.id and o.message_id = ${id} and o.status = 'queued'`)

  const file = Query.findOneOption({
    Request: Schema.Int,
    Result: Schema.Struct({ content: Schema.Uint8Array }),
    execute: (id) => sql`select content from whatsapp_files where id = ${id}`
  })

  /** The body of a sent message, until it is pruned. */
  const body = Query.findOneOption({
    Request: One,
    Result: Schema.Struct({ body: Schema.Uint8Array, code_seed: Schema.NullOr(CodeSeed) }),
    execute: ({ sessionId, whatsappId }) =>
      sql`select body, code_seed from whatsapp_outbox
        where session_id = ${sessionId} and whatsapp_id = ${whatsappId} and body is not null`
  })

  /** WhatsApp's id and chat of a message that this session has sent. */
  const quoted = Query.findOneOption({
    Request: Schema.Struct({ sessionId: WhatsAppSessionId, messageId: MessageId }),
    Result: Schema.Struct({ chat: Schema.String, id: Schema.String }),
    execute: ({ messageId, sessionId }) =>
      sql`select chat, whatsapp_id as id from whatsapp_outbox
        where message_id = ${messageId} and session_id = ${sessionId} and chat is not null and status <> 'failed'`
  })

  /** The chat of a sent or received message, in the form of `to`. Null if the sender's number is hidden. */
  const chatOf = Query.findOneOption({
    Request: Schema.Struct({ sessionId: WhatsAppSessionId, messageId: MessageId }),
    Result: Schema.Struct({ chat: Schema.NullOr(Schema.String) }),
    execute: ({ messageId, sessionId }) =>
      sql`select case when m.direction = 'out' then m.recipient when i.chat like '%@g.us' then i.chat else m.sender end
          as chat
        from messages m left join whatsapp_inbox i on i.message_id = m.id
        where m.id = ${messageId} and m.session_id = ${sessionId}`
  })

  /** Those of the sessions that have a due message. */
  const withDueMessages = Query.findAll({
    Request: Schema.Array(WhatsAppSessionId),
    Result: Schema.Struct({ id: WhatsAppSessionId }),
    execute: (ids) =>
      sql`select s.id from unnest(${column.int8(ids)}) as t (id) join whatsapp_sessions s using (id) where exists (
        select from whatsapp_outbox o where o.session_id = s.id and o.status = 'queued' and o.due_at <= now()
          and o.pairing = s.pairing)`
  })

  /** Messages that no session will send: theirs is gone, or the phone that they were accepted for has logged it out. */
  const unsendable = Query.findAll({
    Request: Schema.Int,
    Result: Schema.Struct({
      session_id: WhatsAppSessionId,
      whatsapp_id: Schema.String,
      is_gone: Schema.Boolean
    }),
    execute: (limit) =>
      // One arm for each partial index: none has both statuses.
      sql`select o.session_id, o.whatsapp_id, s.id is null as is_gone from (
          select session_id, whatsapp_id, pairing from whatsapp_outbox where status = 'queued'
          union all
          select session_id, whatsapp_id, pairing from whatsapp_outbox where status = 'written'
        ) o
        left join whatsapp_sessions s on s.id = o.session_id and s.desired <> 'removed'
        where s.id is null or s.pairing <> o.pairing
        limit ${limit}`
  })

  return {
    next,
    nextFiles,
    storePrepared,
    quoted,
    chatOf,
    unacknowledged,
    recent,
    write,
    isOwner,
    postpone,
    file,
    body,
    withDueMessages,
    unsendable
  }
})

/** SQL of `whatsapp_outbox`, for the owner of a session. `OutboxStatusRepo` writes later statuses. */
export class OutboxRepo
  extends Context.Service<OutboxRepo>()("messaging-service/channels/whatsapp/outbox/OutboxRepo", { make })
{
  static readonly layer = Layer.effect(OutboxRepo, make)
}
