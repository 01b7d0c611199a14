import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { column } from "../../../platform/database/column.ts"
import * as Query from "../../../platform/database/Query.ts"
import { AccountId, MessageId, WhatsAppSessionId } from "../../../values/Ids.ts"
import { Timestamp } from "../../../values/Timestamp.ts"
import { OwnedSession } from "../model/Session.ts"

const Entry = Schema.Struct({
  session_id: WhatsAppSessionId,
  kind: Schema.Literals(["message", "group"]),
  chat: Schema.String,
  whatsapp_id: Schema.String,
  author: Schema.NullOr(Schema.String),
  payload: Schema.Uint8Array
})

/** A message or membership change that came in, with its encrypted payload. */
export type InboxEntry = typeof Entry.Type

const Pending = Schema.Struct({
  id: Schema.Int,
  chat: Schema.String,
  whatsapp_id: Schema.String,
  payload: Schema.NullOr(Schema.Uint8Array)
})

/** An unpublished row. */
export type PendingRow = typeof Pending.Type

const NewMessage = Schema.Struct({
  id: Schema.Int,
  sender: Schema.NullOr(Schema.String),
  recipient: Schema.String,
  type: Schema.String,
  /** JSON. */
  content: Schema.String,
  sent_at: Schema.NullOr(Schema.Int),
  keeps_payload: Schema.Boolean
})

/** A message as WhatsApp names it. */
const Name = Schema.Struct({ chat: Schema.String, whatsapp_id: Schema.String })

const One = Schema.Struct({ accountId: AccountId, id: MessageId })

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  /** Rows that exist already stay as they are. */
  const insert = Query.void({
    Request: Schema.Array(Entry),
    execute: (rows) =>
      sql`insert into whatsapp_inbox (session_id, kind, chat, whatsapp_id, author, payload)
        select * from unnest(${column.int8(rows.map((row) => row.session_id))}, ${
        column.text(rows.map((row) => row.kind))
      }, ${column.text(rows.map((row) => row.chat))}, ${column.text(rows.map((row) => row.whatsapp_id))}, ${
        column.text(rows.map((row) => row.author))
      }, ${column.bytea(rows.map((row) => row.payload))})
        on conflict (session_id, chat, whatsapp_id) do nothing`
  })

  const pending = Query.findAll({
    Request: Schema.Struct({ id: WhatsAppSessionId, except: Schema.Array(Schema.Int), limit: Schema.Int }),
    Result: Pending,
    execute: ({ except, id, limit }) =>
      sql`select id, chat, whatsapp_id, payload from whatsapp_inbox
        where session_id = ${id} and done_at is null and id <> all(${column.int8(except)}) order by id limit ${limit}`
  })

  /** Locks the session's row until the transaction ends. None if the session has another owner. */
  const lockSession = Query.findOneOption({
    Request: OwnedSession,
    Result: Schema.Struct({ account_id: AccountId, phone_number: Schema.NullOr(Schema.String) }),
    execute: ({ epoch, id }) =>
      sql`select account_id, phone_number from whatsapp_sessions
        where id = ${id} and epoch = ${epoch} and desired <> 'removed' for share`
  })

  /**
   * Stores rows that are not done as messages, in their order, and marks them as done. Lists and the search rely on the ids of
   * messages following their times, so a message that had to wait is as new as its id.
   */
  const storeMessages = Query.findAll({
    Request: Schema.Struct({ accountId: AccountId, sessionId: WhatsAppSessionId, rows: Schema.Array(NewMessage) }),
    Result: Schema.Struct({ id: Schema.Int, message_id: MessageId, received_at: Timestamp }),
    execute: ({ accountId, rows, sessionId }) =>
      sql`with given as (
          select * from unnest(${column.int8(rows.map((row) => row.id))}, ${
        column.text(rows.map((row) => row.sender))
      }, ${column.text(rows.map((row) => row.recipient))}, ${column.text(rows.map((row) => row.type))}, ${
        column.text(rows.map((row) => row.content))
      }, ${column.int8(rows.map((row) => row.sent_at))}, ${column.bool(rows.map((row) => row.keeps_payload))})
            as g (id, sender, recipient, type, content, sent_at, keeps_payload)
        ), due as (
          select g.*, i.received_at from given g join whatsapp_inbox i on i.id = g.id and i.done_at is null
          order by g.id for update of i
        ), numbered as (
          select due.*, nextval(pg_get_serial_sequence('messages', 'id')) as message_id from due
        ), added as (
          insert into messages (id, account_id, channel, session_id, direction, sender, recipient, type, content, status,
            sent_at, created_at) overriding system value
          select message_id, ${accountId}, 'whatsapp', ${sessionId}::bigint, 'in', sender, recipient, type, content::jsonb,
            'received', to_timestamp(sent_at),
            case when received_at < now() - interval '5 seconds' then now() else received_at end from numbered
        ), done as (
          update whatsapp_inbox i set message_id = n.message_id, done_at = now(),
            payload = case when n.keeps_payload then i.payload end
          from numbered n where i.id = n.id
        )
        select id, message_id, received_at from numbered order by id`
  })

  /** Marks rows as done that become no message. Answers with those that were not done. */
  const drop = Query.findAll({
    Request: Schema.Array(Schema.Int),
    Result: Schema.Struct({ id: Schema.Int }),
    execute: (ids) =>
      sql`update whatsapp_inbox set done_at = now(), payload = null
        where id = any(${column.int8(ids)}) and done_at is null returning id`
  })

  /** The ids of messages by their WhatsApp ids. A sender names a received one, so its id is unique in its chat alone. */
  const messageIds = Query.findAll({
    Request: Schema.Struct({ sessionId: WhatsAppSessionId, names: Schema.Array(Name) }),
    Result: Schema.Struct({ ...Name.fields, message_id: MessageId, is_received: Schema.Boolean }),
    execute: ({ names, sessionId }) =>
      sql`with asked as (
          select * from unnest(${column.text(names.map(({ chat }) => chat))}, ${
        column.text(names.map(({ whatsapp_id }) => whatsapp_id))
      }) as t (chat, whatsapp_id)
        )
        select a.chat, a.whatsapp_id, i.message_id, true as is_received
        from asked a join whatsapp_inbox i using (chat, whatsapp_id)
        where i.session_id = ${sessionId} and i.message_id is not null
        union all
        select a.chat, a.whatsapp_id, o.message_id, false
        from asked a join whatsapp_outbox o using (whatsapp_id)
        where o.session_id = ${sessionId}`
  })

  /** The identity of a received message at WhatsApp. */
  const reference = Query.findOneOption({
    Request: Schema.Struct({ sessionId: WhatsAppSessionId, id: MessageId }),
    Result: Schema.Struct({ chat: Schema.String, whatsapp_id: Schema.String, author: Schema.NullOr(Schema.String) }),
    execute: ({ id, sessionId }) =>
      sql`select chat, whatsapp_id, author from whatsapp_inbox where message_id = ${id} and session_id = ${sessionId}`
  })

  /** A received message with its payload and its session's data key, which are null once the session is gone. */
  const stored = Query.findOneOption({
    Request: One,
    Result: Schema.Struct({
      type: Schema.String,
      session_id: Schema.NullOr(WhatsAppSessionId),
      chat: Schema.NullOr(Schema.String),
      whatsapp_id: Schema.NullOr(Schema.String),
      payload: Schema.NullOr(Schema.Uint8Array),
      data_key: Schema.NullOr(Schema.Uint8Array)
    }),
    execute: ({ accountId, id }) =>
      sql`select m.type, i.session_id, i.chat, i.whatsapp_id, i.payload, s.data_key
        from messages m left join whatsapp_inbox i on i.message_id = m.id
          left join whatsapp_sessions s on s.id = i.session_id and s.desired <> 'removed'
        where m.id = ${id} and m.account_id = ${accountId} and m.channel = 'whatsapp' and m.direction = 'in'`
  })

  /** Messages whose payload is kept, and no older than the keys of their session: a logout replaces these. */
  const kept = Query.findAll({
    Request: Schema.Struct({ accountId: AccountId, ids: Schema.Array(MessageId) }),
    Result: Schema.Struct({ message_id: MessageId }),
    execute: ({ accountId, ids }) =>
      sql`select i.message_id from whatsapp_inbox i join whatsapp_sessions s on s.id = i.session_id
        where i.message_id = any(${column.int8(ids)}) and i.payload is not null
          and s.account_id = ${accountId} and s.desired <> 'removed'
          and not exists (
            select from whatsapp_session_states l
            where l.session_id = s.id and l.reason = 'logged_out' and l.since >= i.received_at
          )`
  })

  return { insert, pending, lockSession, storeMessages, drop, messageIds, reference, stored, kept }
})

/** Stores received messages and membership changes until they are published. */
export class InboxRepo
  extends Context.Service<InboxRepo>()("messaging-service/channels/whatsapp/inbox/InboxRepo", { make })
{
  static readonly layer = Layer.effect(InboxRepo, make)
}
