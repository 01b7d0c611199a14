import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import { column } from "../../platform/database/column.ts"
import * as Query from "../../platform/database/Query.ts"
import { AccountId, WhatsAppSessionId } from "../../values/Ids.ts"
import { Timestamp } from "../../values/Timestamp.ts"

/** The most messages of a channel in a list. */
export const maxListed = 1_000

/** The mails of a page are whole up to this size. */
const mostBytes = 8 * 1024 * 1024

/** Of a later mail: its headers, and nearly always its texts, which stand before the files. */
const beginning = 64 * 1024

const Filter = Schema.Struct({ accountId: AccountId, to: Schema.String })

const One = Schema.Struct({ id: Schema.Int, received_at: Timestamp })

const Sms = Schema.Struct({
  ...One.fields,
  from: Schema.NullOr(Schema.String),
  to: Schema.String,
  text: Schema.String
})

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  const mails = Query.findAll({
    Request: Filter,
    Result: One,
    execute: ({ accountId, to }) =>
      sql`select id, received_at from sandbox_mails where account_id = ${accountId}
          and position(lower(${to}) in lower(recipient)) > 0
        order by id desc limit ${maxListed}`
  })

  /**
   * Mails in the order of the ids: whole until they exceed `mostBytes` together, and of those after that the beginning.
   * The first is whole.
   */
  const rawMails = Query.findAll({
    Request: Schema.Struct({ accountId: AccountId, ids: Schema.Array(Schema.Int) }),
    Result: Schema.Struct({
      id: Schema.Int,
      from: Schema.String,
      to: Schema.String,
      subject: Schema.String,
      is_whole: Schema.Boolean,
      raw: Schema.Uint8Array
    }),
    execute: ({ accountId, ids }) =>
      sql`with asked as (
          select id, sender, recipient, subject, raw,
            row_number() over places = 1 or sum(octet_length(raw)) over places <= ${mostBytes} as is_whole
          from sandbox_mails where account_id = ${accountId} and id = any(${column.int8(ids)})
          window places as (order by array_position(${column.int8(ids)}, id)))
        select id, sender as "from", recipient as "to", subject, is_whole,
          case when is_whole then raw else substring(raw from 1 for ${beginning}) end as raw
        from asked`
  })

  /** Complete texts only. */
  const sms = Query.findAll({
    Request: Filter,
    Result: Sms,
    execute: ({ accountId, to }) =>
      sql`select message_id as id, min(received_at) as received_at, min(sender) as "from", min(recipient) as "to",
          string_agg(body, '' order by part_no) as text
        from (select distinct on (message_id, part_no) message_id, part_no, parts, received_at, sender, recipient, body
          from sandbox_sms where account_id = ${accountId} and state not in ('refused', 'put_off', 'lost') and not is_hidden
            and position(${to} in recipient) > 0
          order by message_id desc, part_no, id) received
        group by message_id having count(*) = max(parts) order by message_id desc limit ${maxListed}`
  })

  const sessions = Query.findAll({
    Request: AccountId,
    Result: Schema.Struct({ id: WhatsAppSessionId }),
    execute: (accountId) => sql`select id from whatsapp_sessions where account_id = ${accountId} and is_paired`
  })

  /** Parts of SMS are hidden, because their receipts are still to be reported. */
  const clear = Query.findOne({
    Request: AccountId,
    Result: Schema.Struct({ deleted: Schema.Int }),
    execute: (accountId) =>
      sql`with mails as (delete from sandbox_mails where account_id = ${accountId} returning 1),
        parts as (
          update sandbox_sms set is_hidden = true, body = '' where account_id = ${accountId} and not is_hidden
          returning message_id, state
        )
        select (select count(*) from mails) + count(distinct message_id)
          filter (where state not in ('refused', 'put_off', 'lost')) as deleted
        from parts`
  })

  return { mails, rawMails, sms, sessions, clear }
})

/** SQL of what the sandbox took from test accounts. */
export class TestMessagesRepo extends Context.Service<TestMessagesRepo>()(
  "messaging-service/sandbox/messages/TestMessagesRepo",
  { make }
) {
  static readonly layer = Layer.effect(TestMessagesRepo, make)
}
