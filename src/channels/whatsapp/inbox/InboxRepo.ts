import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { column } from "../../../platform/database/column.ts"
import { repository } from "../../../platform/database/repository.ts"
import { AccountId, MessageId, WhatsAppSessionId } from "../../../values/Ids.ts"
import { Timestamp } from "../../../values/Timestamp.ts"

const Owned = Schema.Struct({ id: WhatsAppSessionId, epoch: Schema.Int })

const Entry = Schema.Struct({
  session_id: WhatsAppSessionId,
  kind: Schema.Literals(["message", "group"]),
  chat: Schema.String,
  whatsapp_id: Schema.String,
  author: Schema.NullOr(Schema.String),
  payload: Schema.Uint8Array
})

/** Something that came in, with its encrypted payload. */
export type InboxEntry = typeof Entry.Type

const Pending = Schema.Struct({
  id: Schema.Int,
  kind: Entry.fields.kind,
  chat: Schema.String,
  whatsapp_id: Schema.String,
  payload: Schema.NullOr(Schema.Uint8Array),
  received_at: Timestamp
})

/** What nobody was told of yet. */
export type PendingRow = typeof Pending.Type

const Told = Schema.Struct({
  id: Schema.Int,
  sender: Schema.NullOr(Schema.String),
  recipient: Schema.String,
  type: Schema.String,
  /** JSON. */
  content: Schema.String,
  sent_at: Schema.NullOr(Schema.Int),
  keeps_payload: Schema.Boolean
})

/** A message as it becomes one of `messages`. */
export type ToldRow = typeof Told.Type

const One = Schema.Struct({ accountId: AccountId, id: MessageId })

/** SQL of `whatsapp_inbox`. */
export const makeInboxRepo = repository(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  /** What is there already stays as it is. */
  const insert = SqlSchema.void({
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

  const pending = SqlSchema.findAll({
    Request: Schema.Struct({ id: WhatsAppSessionId, except: Schema.Array(Schema.Int), limit: Schema.Int }),
    Result: Pending,
    execute: ({ except, id, limit }) =>
      sql`select id, kind, chat, whatsapp_id, payload, received_at from whatsapp_inbox
        where session_id = ${id} and done_at is null and id <> all(${column.int8(except)}) order by id limit ${limit}`
  })

  /** Whose session it is, held until the transaction ends; nothing where there is another owner. */
  const hold = SqlSchema.findOneOption({
    Request: Owned,
    Result: Schema.Struct({ account_id: AccountId, phone_number: Schema.NullOr(Schema.String) }),
    execute: ({ epoch, id }) =>
      sql`select account_id, phone_number from whatsapp_sessions
        where id = ${id} and epoch = ${epoch} and desired <> 'removed' for share`
  })

  /** Makes messages of rows that are none yet; answers in their order. */
  const tell = SqlSchema.findAll({
    Request: Schema.Struct({ accountId: AccountId, sessionId: WhatsAppSessionId, rows: Schema.Array(Told) }),
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
        ), told as (
          insert into messages (id, account_id, channel, session_id, direction, sender, recipient, type, content, status,
            sent_at, created_at) overriding system value
          select message_id, ${accountId}, 'whatsapp', ${sessionId}::bigint, 'in', sender, recipient, type, content::jsonb,
            'received', to_timestamp(sent_at), received_at from numbered
        ), done as (
          update whatsapp_inbox i set message_id = n.message_id, done_at = now(),
            payload = case when n.keeps_payload then i.payload end
          from numbered n where i.id = n.id
        )
        select id, message_id, received_at from numbered order by id`
  })

  /** There is nothing to tell of these. */
  const drop = (ids: ReadonlyArray<number>) =>
    Effect.asVoid(
      sql`update whatsapp_inbox set done_at = now(), payload = null where id = any(${
        column.int8(ids)
      }) and done_at is null`
    )

  /** The messages of either direction that have these ids at WhatsApp. */
  const named = SqlSchema.findAll({
    Request: Schema.Struct({ sessionId: WhatsAppSessionId, ids: Schema.Array(Schema.String) }),
    Result: Schema.Struct({ whatsapp_id: Schema.String, message_id: MessageId }),
    execute: ({ ids, sessionId }) =>
      sql`select whatsapp_id, message_id from whatsapp_inbox
        where session_id = ${sessionId} and whatsapp_id = any(${column.text(ids)}) and message_id is not null
        union all
        select whatsapp_id, message_id from whatsapp_outbox
        where session_id = ${sessionId} and whatsapp_id = any(${column.text(ids)})`
  })

  /** What a message is called at WhatsApp. */
  const nameOf = SqlSchema.findOneOption({
    Request: Schema.Struct({ sessionId: WhatsAppSessionId, id: MessageId }),
    Result: Schema.Struct({ chat: Schema.String, whatsapp_id: Schema.String, author: Schema.NullOr(Schema.String) }),
    execute: ({ id, sessionId }) =>
      sql`select chat, whatsapp_id, author from whatsapp_inbox where message_id = ${id} and session_id = ${sessionId}`
  })

  /** A message with what is kept of it, and what opens that; the latter are null where its session is gone. */
  const stored = SqlSchema.findOneOption({
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

  return { insert, pending, hold, tell, drop, named, nameOf, stored }
}))
