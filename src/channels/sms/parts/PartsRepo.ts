import { PgClient } from "@effect/sql-pg"
import { Context, Duration, Effect, Layer, Schema } from "effect"
import { CodeSeed } from "../../../platform/crypto/oneTimeCode.ts"
import { column } from "../../../platform/database/column.ts"
import * as Query from "../../../platform/database/Query.ts"
import { MessageBatchId, MessageId } from "../../../values/Ids.ts"
import { PhoneNumber } from "../../../values/PhoneNumber.ts"
import { unconfirmed } from "./PartState.ts"

/** A claimed part. Its numbers were validated when the message was accepted. */
export const ClaimedPart = Schema.Struct({
  message_id: MessageId,
  part_no: Schema.Int,
  parts: Schema.Int,
  encoding: Schema.Literals(["gsm7", "ucs2"]),
  body: Schema.String,
  /** The seed of the one-time code that replaces the mask in the body. */
  code_seed: Schema.NullOr(CodeSeed),
  sender: Schema.NullOr(Schema.String),
  recipient: Schema.toType(PhoneNumber),
  lane: Schema.Int,
  attempt_count: Schema.Int,
  unconfirmed_attempts: Schema.Int,
  age_millis: Schema.Finite,
  batch_id: Schema.NullOr(MessageBatchId)
})
export type ClaimedPart = typeof ClaimedPart.Type

/** Identifies claims: a part that another node has reclaimed counts one more unconfirmed attempt. */
const claimsOf = (claimed: ReadonlyArray<ClaimedPart>) => ({
  ids: column.int8(claimed.map(({ message_id }) => message_id)),
  numbers: column.int4(claimed.map(({ part_no }) => part_no)),
  doubts: column.int4(claimed.map(({ unconfirmed_attempts }) => unconfirmed_attempts))
})

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  const due = (lane: number) =>
    sql`status = 'queued' and lane = ${sql.literal(String(lane))} and due_at <= now()
      order by due_at, message_id, part_no`

  /**
   * Claims due parts: `due_at` is the time of the claim from then on. Single messages come first, and parts of batches
   * are at most `bulkLimit`. Skips rows that another node is claiming.
   */
  const claim = Query.findAll({
    Request: Schema.Struct({ provider: Schema.String, limit: Schema.Int, bulkLimit: Schema.Int }),
    Result: ClaimedPart,
    execute: ({ bulkLimit, limit, provider }) =>
      sql`with single as (
          select message_id, part_no from sms_parts where ${due(0)} limit ${limit} for update skip locked
        ), bulk as (
          select message_id, part_no from sms_parts where ${due(1)}
          limit greatest(0, least(${bulkLimit}::bigint, ${limit}::bigint - (select count(*) from single)))
          for update skip locked
        ), claimed as (
          update sms_parts p set status = 'sending', due_at = now(), provider = ${provider}
          from (select * from single union all select * from bulk) d
          where p.message_id = d.message_id and p.part_no = d.part_no
          returning p.*
        )
        select c.message_id, c.part_no, c.parts, c.encoding, c.body, c.code_seed, c.lane, c.attempt_count,
          c.doubts as unconfirmed_attempts,
          m.sender, m.recipient, m.batch_id, extract(epoch from now() - c.created_at)::float8 * 1000 as age_millis
        from claimed c join messages m on m.id = c.message_id order by c.lane, c.message_id, c.part_no`
  })

  /**
   * Renews leases and answers with the renewed claims. Skips parts that another node has reclaimed, and locked rows: their
   * outcome is being written, and waiting could deadlock.
   */
  const renew = (claimed: ReadonlyArray<ClaimedPart>) => {
    const { doubts, ids, numbers } = claimsOf(claimed)
    const renewed = Query.findAll({
      Request: Schema.Void,
      Result: Schema.Struct({ message_id: MessageId, part_no: Schema.Int }),
      execute: () =>
        sql`with mine as (
            select p.message_id, p.part_no from sms_parts p,
              unnest(${ids}, ${numbers}, ${doubts}) as t (message_id, part_no, doubts)
            where p.message_id = t.message_id and p.part_no = t.part_no and p.status = 'sending' and p.doubts = t.doubts
            for update of p skip locked
          )
          update sms_parts p set due_at = now() from mine
          where p.message_id = mine.message_id and p.part_no = mine.part_no returning p.message_id, p.part_no`
    })()
    return Effect.map(renewed, (rows) => {
      const kept = new Set(rows.map(({ message_id, part_no }) => `${message_id}.${part_no}`))
      return claimed.filter(({ message_id, part_no }) => kept.has(`${message_id}.${part_no}`))
    })
  }

  /**
   * Returns parts to the queue whose lease has not been renewed for `leaseTimeout`. They may have been submitted, so this
   * counts an unconfirmed attempt, and their former node's outcome changes nothing. The second time they fail.
   */
  const reclaimExpired = Query.findAll({
    Request: Schema.Struct({ provider: Schema.String, leaseTimeout: Schema.Duration }),
    Result: Schema.Struct({ message_id: MessageId, has_failed: Schema.Boolean }),
    execute: ({ leaseTimeout, provider }) =>
      sql`with orphaned as (
          select message_id, part_no from sms_parts where status = 'sending' and provider = ${provider}
            and due_at <= now() - ${Duration.toMillis(leaseTimeout)}::float8 * interval '1 millisecond'
          order by message_id, part_no for update skip locked
        )
        update sms_parts p set doubts = doubts + 1, due_at = now(),
          status = case when doubts = 0 then 'queued' else 'failed' end,
          error_code = case when doubts = 0 then null else ${unconfirmed.error_code} end,
          error_message = case when doubts = 0 then null else ${unconfirmed.error_message} end,
          completed_at = case when doubts = 0 then null else now() end
        from orphaned where p.message_id = orphaned.message_id and p.part_no = orphaned.part_no
        returning p.message_id, p.status = 'failed' as has_failed`
  })

  /** Returns claims to the queue that have not begun, unless another node has reclaimed them. */
  const release = (claimed: ReadonlyArray<ClaimedPart>) => {
    const { doubts, ids, numbers } = claimsOf(claimed)
    return Query.run(sql`update sms_parts p set status = 'queued', due_at = now()
      from unnest(${ids}, ${numbers}, ${doubts}) as t (message_id, part_no, doubts)
      where p.message_id = t.message_id and p.part_no = t.part_no and p.status = 'sending' and p.doubts = t.doubts`)
  }

  return { claim, renew, release, reclaimExpired }
})

/** SQL of parts from claim to submit. `PartStatusRepo` writes their outcomes. */
export class PartsRepo
  extends Context.Service<PartsRepo>()("messaging-service/channels/sms/parts/PartsRepo", { make })
{
  static readonly layer = Layer.effect(PartsRepo, make)
}
