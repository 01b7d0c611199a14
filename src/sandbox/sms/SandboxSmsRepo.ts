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
  received_at: Timestamp
})
export type SandboxSms = typeof SandboxSms.Type

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
              ${column.text(of((t) => t.outcome))}, ${column.float8(of((t) => t.receiptIn))})
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

  const list = Query.findAll({
    Request: Schema.Struct({ to: Schema.String, limit: Schema.Int, offset: Schema.Int }),
    Result: SandboxSms,
    execute: ({ limit, offset, to }) =>
      sql`select message_id, min(sender) as "from", min(recipient) as "to", string_agg(body, '' order by part_no) as text,
          min(encoding) as encoding, max(parts) as parts, count(*) as parts_received, min(received_at) as received_at
        from (select distinct on (message_id, part_no) * from sandbox_sms
          where state not in ('refused', 'put_off') and (${to} = '' or recipient = ${to})
          order by message_id desc, part_no, id) received
        group by message_id order by message_id desc limit ${limit} offset ${offset}`
  })

  /** Deletes all but the newest ten thousand parts. */
  const prune = Query.run(sql`delete from sandbox_sms where id <= (select max(id) - 10000 from sandbox_sms)`)

  return { insert, wasPutOff, dueReceipts, markReported, list, prune }
})

/** SQL of `sandbox_sms`. */
export class SandboxSmsRepo extends Context.Service<SandboxSmsRepo>()(
  "messaging-service/sandbox/sms/SandboxSmsRepo",
  { make }
) {
  static readonly layer = Layer.effect(SandboxSmsRepo, make)
}
