import { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Schema } from "effect"
import { SqlSchema } from "effect/sql"
import { CodeSeed } from "../../../platform/crypto/oneTimeCode.ts"
import { column } from "../../../platform/database/column.ts"
import { repository } from "../../../platform/database/repository.ts"
import { MessageId } from "../../../values/Ids.ts"
import { PhoneNumber } from "../../../values/PhoneNumber.ts"
import { unconfirmed } from "./PartState.ts"

/** A part in the hands of a node; its numbers were checked when the message was accepted. */
export const ClaimedPart = Schema.Struct({
  message_id: MessageId,
  part_no: Schema.Int,
  parts: Schema.Int,
  encoding: Schema.Literals(["gsm7", "ucs2"]),
  body: Schema.String,
  /** Of the code that the body has a mask for. */
  code_seed: Schema.NullOr(CodeSeed),
  sender: Schema.NullOr(Schema.String),
  recipient: Schema.toType(PhoneNumber),
  lane: Schema.Int,
  attempt_count: Schema.Int,
  unconfirmed_attempts: Schema.Int,
  age_millis: Schema.Finite
})
export type ClaimedPart = typeof ClaimedPart.Type

const hands = (held: ReadonlyArray<ClaimedPart>) => ({
  ids: column.int8(held.map(({ message_id }) => message_id)),
  numbers: column.int4(held.map(({ part_no }) => part_no)),
  doubts: column.int4(held.map(({ unconfirmed_attempts }) => unconfirmed_attempts))
})

/** SQL of parts on their way through the hands of nodes; what becomes of them is `PartStatusRepo`. */
export const makePartsRepo = repository(Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  const due = (lane: number) =>
    sql`status = 'queued' and lane = ${sql.literal(String(lane))} and due_at <= now()
      order by due_at, message_id, part_no`

  /**
   * Takes who is due into `sending`, in the hands of this node from then on (`due_at`): messages of their own first, and
   * of batches no more than `bulk`. What another node claims at the same time is passed over.
   */
  const claim = SqlSchema.findAll({
    Request: Schema.Struct({ provider: Schema.String, limit: Schema.Int, bulk: Schema.Int }),
    Result: ClaimedPart,
    execute: ({ bulk, limit, provider }) =>
      sql`with single as (
          select message_id, part_no from sms_parts where ${due(0)} limit ${limit} for update skip locked
        ), bulk as (
          select message_id, part_no from sms_parts where ${due(1)}
          limit greatest(0, least(${bulk}::bigint, ${limit}::bigint - (select count(*) from single)))
          for update skip locked
        ), taken as (
          update sms_parts p set status = 'sending', due_at = now(), provider = ${provider}
          from (select * from single union all select * from bulk) d
          where p.message_id = d.message_id and p.part_no = d.part_no
          returning p.*
        )
        select t.message_id, t.part_no, t.parts, t.encoding, t.body, t.code_seed, t.lane, t.attempt_count,
          t.doubts as unconfirmed_attempts,
          m.sender, m.recipient, extract(epoch from now() - t.created_at)::float8 * 1000 as age_millis
        from taken t join messages m on m.id = t.message_id order by t.lane, t.message_id, t.part_no`
  })

  /** Says that this node still has them; one whose outcome is being written at this moment needs no saying. */
  const renew = (held: ReadonlyArray<ClaimedPart>) => {
    const { doubts, ids, numbers } = hands(held)
    return sql`with mine as (
        select p.message_id, p.part_no from sms_parts p,
          unnest(${ids}, ${numbers}, ${doubts}) as t (message_id, part_no, doubts)
        where p.message_id = t.message_id and p.part_no = t.part_no and p.status = 'sending' and p.doubts = t.doubts
        for update of p skip locked
      )
      update sms_parts p set due_at = now() from mine where p.message_id = mine.message_id and p.part_no = mine.part_no`
  }

  /**
   * What no node has said to have for `after` may have been submitted: it is submitted once more, which also makes void
   * whatever the node before still learns about it. The second time it is given up; these are told.
   */
  const takeOver = SqlSchema.findAll({
    Request: Schema.Struct({ provider: Schema.String, after: Schema.Duration }),
    Result: Schema.Struct({ message_id: MessageId, is_lost: Schema.Boolean }),
    execute: ({ after, provider }) =>
      sql`with stray as (
          select message_id, part_no from sms_parts where status = 'sending' and provider = ${provider}
            and due_at <= now() - ${Duration.toMillis(after)}::float8 * interval '1 millisecond'
          order by message_id, part_no for update skip locked
        )
        update sms_parts p set doubts = doubts + 1, due_at = now(),
          status = case when doubts = 0 then 'queued' else 'failed' end,
          error_code = case when doubts = 0 then null else ${unconfirmed.error_code} end,
          error_message = case when doubts = 0 then null else ${unconfirmed.error_message} end,
          completed_at = case when doubts = 0 then null else now() end
        from stray where p.message_id = stray.message_id and p.part_no = stray.part_no
        returning p.message_id, p.status = 'failed' as is_lost`
  })

  /** Back to the queue with what was claimed and never begun. */
  const giveBack = (held: ReadonlyArray<ClaimedPart>) => {
    const { doubts, ids, numbers } = hands(held)
    return sql`update sms_parts p set status = 'queued', due_at = now()
      from unnest(${ids}, ${numbers}, ${doubts}) as t (message_id, part_no, doubts)
      where p.message_id = t.message_id and p.part_no = t.part_no and p.status = 'sending' and p.doubts = t.doubts`
  }

  return { claim, renew, takeOver, giveBack }
}))
