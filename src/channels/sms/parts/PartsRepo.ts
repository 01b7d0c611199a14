import { PgClient } from "@effect/sql-pg"
import { Context, Duration, Effect, Layer, Schema } from "effect"
import type { Statement } from "effect/sql"
import { CodeSeed } from "../../../platform/crypto/oneTimeCode.ts"
import { column } from "../../../platform/database/column.ts"
import * as Query from "../../../platform/database/Query.ts"
import { dueRows } from "../../../platform/work/dueRows.ts"
import type { AllottedTurn } from "../../../platform/work/FairClaims.ts"
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
  account_id: Schema.Int,
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

  const queued = sql`m.status = 'queued'`
  const due = dueRows(sql, {
    name: "sms_parts",
    key: ["message_id", "part_no"],
    lane: "(case when m.code_seed is not null then 0 else m.lane + 1 end)",
    lanes: ["m.code_seed is not null", "m.code_seed is null and m.lane = 0", "m.code_seed is null and m.lane = 1"]
  })

  /** Claims parts for a provider: `due_at` is the time of the claim from then on. */
  const claim = (provider: string, keys: Statement.Fragment) =>
    Query.findAll({
      Request: Schema.Void,
      Result: ClaimedPart,
      execute: () =>
        sql`with chosen as (${keys}), claimed as (
            update sms_parts p set status = 'sending', due_at = now(), provider = ${provider}
            from chosen c where p.message_id = c.message_id and p.part_no = c.part_no
            returning p.*
          )
          select c.message_id, c.part_no, c.parts, c.encoding, c.body, c.code_seed, c.account_id, c.attempt_count,
            case when c.code_seed is not null then 0 else c.lane + 1 end as lane, c.doubts as unconfirmed_attempts,
            m.sender, m.recipient, m.batch_id, extract(epoch from now() - c.created_at)::float8 * 1000 as age_millis
          from claimed c join messages m on m.id = c.message_id order by lane, c.message_id, c.part_no`
    })()

  const claims = {
    claimOldest: (provider: string, limits: ReadonlyArray<number>) => claim(provider, due.oldest(queued, limits)),
    waiting: due.waiting(queued),
    claimTurns: (provider: string, turns: ReadonlyArray<AllottedTurn>) => claim(provider, due.ofTurns(queued, turns))
  }

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

  return { ...claims, renew, release, reclaimExpired }
})

/** SQL of parts from claim to submit. `PartStatusRepo` writes their outcomes. */
export class PartsRepo
  extends Context.Service<PartsRepo>()("messaging-service/channels/sms/parts/PartsRepo", { make })
{
  static readonly layer = Layer.effect(PartsRepo, make)
}
