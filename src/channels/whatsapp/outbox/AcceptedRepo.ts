import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import type { MessageContent } from "../../../messages/Message.ts"
import type { CodeSeed } from "../../../platform/crypto/oneTimeCode.ts"
import { column } from "../../../platform/database/column.ts"
import * as Query from "../../../platform/database/Query.ts"
import { AccountId, type MessageBatchId, MessageId, WhatsAppSessionId } from "../../../values/Ids.ts"
import type { MessageType } from "../content/MessageContent.ts"
import { SessionStatus } from "../model/SessionState.ts"

/** An accepted message. */
export interface NewRow {
  readonly accountId: AccountId
  readonly sessionId: WhatsAppSessionId
  /** The session's pairing at acceptance. The next phone of the session must not send the message. */
  readonly pairing: number
  /** The session's own number. */
  readonly sender: string | null
  readonly to: string
  readonly type: MessageType
  readonly content: MessageContent
  /** Its id at WhatsApp. */
  readonly whatsappId: string
  readonly fileId: number | null
  readonly batchId: MessageBatchId | null
  readonly delayMs: number
  /** The seed of the one-time code that the content masks. */
  readonly codeSeed: CodeSeed | null
}

const SessionOf = Schema.Struct({ accountId: AccountId, id: WhatsAppSessionId })

/** A session, together with the account that must own it. */
export type SessionOf = typeof SessionOf.Type

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  /** The sessions that exist, each with its position in the request. */
  const sessions = Query.findAll({
    Request: Schema.Array(SessionOf),
    Result: Schema.Struct({
      position: Schema.Int,
      status: SessionStatus,
      pairing: Schema.Int,
      phone_number: Schema.NullOr(Schema.String)
    }),
    execute: (asked) =>
      sql`select t.position - 1 as position, s.status, s.pairing, s.phone_number
        from unnest(${column.int8(asked.map(({ accountId }) => accountId))}, ${column.int8(asked.map(({ id }) => id))})
          with ordinality as t (account_id, id, position)
        join whatsapp_sessions s using (account_id, id) where s.is_confirmed and s.desired <> 'removed'`
  })

  /** The oldest connected session of an account. */
  const firstConnected = Query.findOneOption({
    Request: AccountId,
    Result: Schema.Struct({ id: WhatsAppSessionId }),
    execute: (accountId) =>
      sql`select id from whatsapp_sessions
        where account_id = ${accountId} and status = 'connected' and is_confirmed and desired <> 'removed'
        order by id limit 1`
  })

  const insertFile = Query.findOne({
    Request: Schema.Struct({ account_id: AccountId, content: Schema.Uint8Array }),
    Result: Schema.Struct({ id: Schema.Int }),
    execute: (row) => sql`insert into whatsapp_files ${sql.insert(row)} returning id`
  })

  const insertBatch = (row: { readonly id: MessageBatchId; readonly account_id: AccountId; readonly total: number }) =>
    Query.run(sql`insert into message_batches ${sql.insert({ ...row, channel: "whatsapp" })}`)

  /** Inserts messages with their outbox rows in one statement. The ids are in the order of the rows. */
  const insert = (rows: ReadonlyArray<NewRow>) =>
    Query.findAll({
      Request: Schema.Void,
      Result: Schema.Struct({ id: MessageId }),
      execute: () =>
        sql`with asked as (
            select t.*, nextval('messages_id_seq') as id from unnest(
              ${column.int8(rows.map((row) => row.accountId))}, ${column.int8(rows.map((row) => row.sessionId))},
              ${column.text(rows.map((row) => row.sender))}, ${column.text(rows.map((row) => row.to))},
              ${column.text(rows.map((row) => row.type))}, ${
          column.text(rows.map((row) => JSON.stringify(row.content)))
        },
              ${column.text(rows.map((row) => row.batchId))}, ${column.text(rows.map((row) => row.whatsappId))},
              ${column.int4(rows.map((row) => row.delayMs))}, ${column.int8(rows.map((row) => row.fileId))},
              ${column.text(rows.map((row) => row.codeSeed))}, ${column.int4(rows.map((row) => row.pairing))})
              with ordinality as t (account_id, session_id, sender, recipient, type, content, batch_id, whatsapp_id,
                delay_ms, file_id, code_seed, pairing, position)
          ), added as (
            insert into messages (id, account_id, channel, session_id, direction, sender, recipient, type, content, batch_id)
            overriding system value
            select id, account_id, 'whatsapp', session_id, 'out', sender, recipient, type, content::jsonb, batch_id
            from asked order by position
          ), queued as (
            insert into whatsapp_outbox
              (message_id, session_id, whatsapp_id, lane, delay_ms, file_id, code_seed, pairing)
            select id, session_id, whatsapp_id, case when batch_id is null then 0 else 1 end, delay_ms, file_id, code_seed,
              pairing
            from asked order by position
          )
          select id from asked order by position`
    })()

  return { sessions, firstConnected, insertFile, insertBatch, insert }
})

/** Stores accepted messages in `messages` and `whatsapp_outbox`. */
export class AcceptedRepo
  extends Context.Service<AcceptedRepo>()("messaging-service/channels/whatsapp/outbox/AcceptedRepo", { make })
{
  static readonly layer = Layer.effect(AcceptedRepo, make)
}
