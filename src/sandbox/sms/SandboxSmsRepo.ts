import { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { SqlSchema } from "effect/sql"
import type { OutgoingPart } from "../../channels/sms/parts/SmsProvider.ts"
import { column } from "../../platform/database/column.ts"
import { repository } from "../../platform/database/repository.ts"
import { Timestamp } from "../../values/Timestamp.ts"
import type { Fate } from "./specialNumbers.ts"

/** A text as a phone shows it: its parts put together. */
export const SandboxSms = Schema.Struct({
  message_id: Schema.Int,
  from: Schema.NullOr(Schema.String),
  to: Schema.String,
  text: Schema.String,
  encoding: Schema.String,
  parts: Schema.Int,
  parts_received: Schema.Int,
  received_at: Timestamp
})
export type SandboxSms = typeof SandboxSms.Type

/** A part that a phone takes. */
export interface Taken {
  readonly part: OutgoingPart
  readonly fate: Fate
  /** Milliseconds until its receipt, null when there is none. */
  readonly receiptIn: number | null
}

const Due = Schema.Struct({ id: Schema.Int, state: Schema.String })

/** SQL of what the sandbox's phones got. */
export const makeSandboxSmsRepo = repository(Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  /** Has phones take parts; the answers are their ids there, in the same order. */
  const insert = (taken: ReadonlyArray<Taken>) => {
    const of = <A>(read: (taken: Taken) => A) => taken.map(read)
    return SqlSchema.findAll({
      Request: Schema.Void,
      Result: Schema.Struct({ id: Schema.Int }),
      execute: () =>
        sql`with asked as (
            select t.*, nextval('sandbox_sms_id_seq') as id from unnest(${column.text(of((t) => t.part.sender))},
              ${column.text(of((t) => t.part.recipient))}, ${column.text(of((t) => t.part.body))},
              ${column.text(of((t) => t.part.encoding))}, ${column.int4(of((t) => t.part.part_no))},
              ${column.int4(of((t) => t.part.parts))}, ${column.int8(of((t) => t.part.message_id))},
              ${column.text(of((t) => t.fate))}, ${column.float8(of((t) => t.receiptIn))})
              with ordinality as t (sender, recipient, body, encoding, part_no, parts, message_id, state, receipt_in, position)
          ), added as (
            insert into sandbox_sms (id, sender, recipient, body, encoding, part_no, parts, message_id, state, receipt_due_at)
            overriding system value
            select id, sender, recipient, body, encoding, part_no, parts, message_id, state,
              now() + receipt_in * interval '1 millisecond'
            from asked
          )
          select id from asked order by position`
    })()
  }

  /** Whether this part was put off before. */
  const wasPutOff = SqlSchema.findOne({
    Request: Schema.Struct({ message_id: Schema.Int, part_no: Schema.Int }),
    Result: Schema.Struct({ was: Schema.Boolean }),
    execute: ({ message_id, part_no }) =>
      sql`select exists (select from sandbox_sms where message_id = ${message_id} and part_no = ${part_no}) as was`
  })

  const due = SqlSchema.findAll({
    Request: Schema.Void,
    Result: Due,
    execute: () =>
      sql`select id, state from sandbox_sms where receipt_due_at <= now() order by receipt_due_at, id limit 500`
  })

  const told = (ids: ReadonlyArray<number>) =>
    sql`update sandbox_sms set receipt_due_at = null where id = any(${column.int8(ids)})`

  const list = SqlSchema.findAll({
    Request: Schema.Struct({ to: Schema.String, limit: Schema.Int, offset: Schema.Int }),
    Result: SandboxSms,
    execute: ({ limit, offset, to }) =>
      sql`select message_id, min(sender) as "from", min(recipient) as "to", string_agg(body, '' order by part_no) as text,
          min(encoding) as encoding, max(parts) as parts, count(*) as parts_received, min(received_at) as received_at
        from (select distinct on (message_id, part_no) * from sandbox_sms
          where state not in ('refused', 'put_off') and (${to} = '' or recipient = ${to})
          order by message_id desc, part_no, id) taken
        group by message_id order by message_id desc limit ${limit} offset ${offset}`
  })

  /** The newest ten thousand parts are kept. */
  const prune = sql`delete from sandbox_sms where id <= (select max(id) - 10000 from sandbox_sms)`

  return { insert, wasPutOff, due, told, list, prune }
}))
