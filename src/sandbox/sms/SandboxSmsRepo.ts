import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import type { OutgoingPart } from "../../channels/sms/parts/SmsProvider.ts"
import { column } from "../../platform/database/column.ts"
import * as Query from "../../platform/database/Query.ts"
import { Timestamp } from "../../values/Timestamp.ts"
import type { Outcome } from "./specialNumbers.ts"

/** A text as a phone shows it: its joined parts. */
export const SandboxSms = Schema.Struct({
  message_id: Schema.Int,
  from: Schema.NullOr(Schema.String),
  to: Schema.String,
  text: Schema.String,
  encoding: Schema.String,
  parts: Schema.Int,
  parts_received: Schema.Int,
  /** `sent` until the carrier has reported an outcome. */
  status: Schema.Literals(["sent", "delivered", "undeliverable", "expired"]),
  received_at: Timestamp
})
export type SandboxSms = typeof SandboxSms.Type

/** What a list or a deletion selects: a recipient, and texts in any case; empty for all. `id` is that of the message. */
export interface SmsFilter {
  readonly to: string
  readonly from: string
  readonly text: string
  readonly q: string
  readonly id?: number
}

/** A part that the sandbox received. */
export interface ReceivedPart {
  readonly part: OutgoingPart
  readonly outcome: Outcome
  /** Milliseconds until its receipt; null if it gets none. */
  readonly receiptIn: number | null
}

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  /** Stores parts, and returns their ids in the same order. */
  const insert = (received: ReadonlyArray<ReceivedPart>) => {
    const of = <A>(read: (received: ReceivedPart) => A) => received.map(read)
    return Query.findAll({
      Request: Schema.Void,
      Result: Schema.Struct({ id: Schema.Int }),
      execute: () =>
        sql`with asked as (
            select t.*, nextval('sandbox_sms_id_seq') as id from unnest(${column.text(of((t) => t.part.sender))},
              ${column.text(of((t) => t.part.recipient))}, ${column.text(of((t) => t.part.body))},
              ${column.text(of((t) => t.part.encoding))}, ${column.int4(of((t) => t.part.part_no))},
              ${column.int4(of((t) => t.part.parts))}, ${column.int8(of((t) => t.part.message_id))},
              ${column.text(of((t) => t.outcome))}, ${column.float8(of((t) => t.receiptIn))},
              ${column.int8(of((t) => t.part.account_id < 0 ? t.part.account_id : null))})
              with ordinality as t (sender, recipient, body, encoding, part_no, parts, message_id, state, receipt_in,
                account_id, position)
          ), added as (
            insert into sandbox_sms (id, sender, recipient, body, encoding, part_no, parts, message_id, state, receipt_due_at,
              account_id)
            overriding system value
            select id, sender, recipient, body, encoding, part_no, parts, message_id, state,
              now() + receipt_in * interval '1 millisecond', account_id
            from asked
          )
          select id from asked order by position`
    })()
  }

  /** Whether an earlier attempt of this part was put off. */
  const wasPutOff = Query.findOne({
    Request: Schema.Struct({ message_id: Schema.Int, part_no: Schema.Int }),
    Result: Schema.Struct({ was: Schema.Boolean }),
    execute: ({ message_id, part_no }) =>
      sql`select exists (select from sandbox_sms where message_id = ${message_id} and part_no = ${part_no}) as was`
  })

  const dueReceipts = Query.findAll({
    Request: Schema.Void,
    Result: Schema.Struct({ id: Schema.Int, state: Schema.String }),
    execute: () =>
      sql`select id, state from sandbox_sms where receipt_due_at <= now() order by receipt_due_at, id limit 500`
  })

  const markReported = (ids: ReadonlyArray<number>) =>
    Query.run(sql`update sandbox_sms set receipt_due_at = null where id = any(${column.int8(ids)})`)

  /** The messages that phones received, each from the first arrival of its parts. */
  const received = ({ from, id, q, text, to }: SmsFilter) => {
    const lower = { from: from.toLowerCase(), q: q.toLowerCase(), text: text.toLowerCase() }
    const inner = [
      sql`state not in ('refused', 'put_off', 'lost') and not is_hidden`,
      ...(to === "" ? [] : [sql`recipient = ${to}`]),
      ...(id === undefined ? [] : [sql`message_id = ${id}`])
    ]
    const outer = [
      sql`true`,
      ...(from === "" ? [] : [sql`position(${lower.from} in lower("from")) > 0`]),
      ...(text === "" ? [] : [sql`position(${lower.text} in lower(text)) > 0`]),
      ...(q === "" ? [] : [sql`position(${lower.q} in lower(concat_ws(' ', "from", "to", text))) > 0`])
    ]
    return sql`select * from (
      select message_id, min(sender) as "from", min(recipient) as "to", string_agg(body, '' order by part_no) as text,
        min(encoding) as encoding, max(parts) as parts, count(*) as parts_received, min(received_at) as received_at,
        case when bool_or(receipt_due_at is not null or state = 'silent') then 'sent' else min(state) end as status
      from (select distinct on (message_id, part_no) * from sandbox_sms where ${sql.and(inner)}
        order by message_id desc, part_no, id) parts
      group by message_id) messages where ${sql.and(outer)}`
  }

  const list = ({ filter, limit, offset }: { filter: SmsFilter; limit: number; offset: number }) =>
    Query.findAll({
      Request: Schema.Void,
      Result: SandboxSms,
      execute: () => sql`${received(filter)} order by message_id desc limit ${limit} offset ${offset}`
    })()

  const total = (filter: SmsFilter) =>
    Query.findOne({
      Request: Schema.Void,
      Result: Schema.Struct({ total: Schema.Int }),
      execute: () => sql`select count(*) as total from (${received(filter)}) found`
    })()

  /**
   * Deletes the selected messages from the phones, and returns how many there were. Their parts stay hidden until they are
   * pruned, because their receipts are still to be reported.
   */
  const remove = (filter: SmsFilter) =>
    Query.findOne({
      Request: Schema.Void,
      Result: Schema.Struct({ deleted: Schema.Int }),
      execute: () =>
        sql`with gone as (
            update sandbox_sms set is_hidden = true, body = ''
            where message_id in (select message_id from (${received(filter)}) found)
            returning message_id
          ) select count(distinct message_id) as deleted from gone`
    })()

  /** Deletes all but the newest ten thousand parts. */
  const prune = Query.run(sql`delete from sandbox_sms where id <= (select max(id) - 10000 from sandbox_sms)`)

  return { insert, wasPutOff, dueReceipts, markReported, list, total, remove, prune }
})

/** SQL of `sandbox_sms`. */
export class SandboxSmsRepo extends Context.Service<SandboxSmsRepo>()(
  "messaging-service/sandbox/sms/SandboxSmsRepo",
  { make }
) {
  static readonly layer = Layer.effect(SandboxSmsRepo, make)
}
