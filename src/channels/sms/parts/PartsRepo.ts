import { PgClient } from "@effect/sql-pg"
import { Context, Duration, Effect, Layer, Schema } from "effect"
import type { Statement } from "effect/sql"
import { CodeSeed } from "../../../platform/crypto/oneTimeCode.ts"
import { column } from "../../../platform/database/column.ts"
import * as Query from "../../../platform/database/Query.ts"
import { keptClaims } from "../../../platform/work/Claims.ts"
import { dueRows } from "../../../platform/work/dueRows.ts"
import type { AllottedTurn, Turn } from "../../../platform/work/FairClaims.ts"
import { MessageBatchId, MessageId } from "../../../values/Ids.ts"
import { StoredPhoneNumber } from "../../../values/PhoneNumber.ts"
import { firstLane, Mode } from "../../../values/TestMode.ts"
import { unconfirmed } from "./PartState.ts"
import { lanes } from "./SmsProvider.ts"

/** As the indexes have it. */
const laneOf = "(case when m.code_seed is not null then 0 else m.lane + 1 end)"

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
  recipient: StoredPhoneNumber,
  lane: Schema.Int,
  account_id: Schema.Int,
  attempt_count: Schema.Int,
  unconfirmed_attempts: Schema.Int,
  /** Which claim of the part this is. */
  claim_number: Schema.Int,
  age_millis: Schema.Finite,
  batch_id: Schema.NullOr(MessageBatchId)
})
export type ClaimedPart = typeof ClaimedPart.Type

/** Identifies claims: each claim of a part has the next number. */
const namesOf = (claimed: ReadonlyArray<ClaimedPart>) => ({
  ids: column.int8(claimed.map(({ message_id }) => message_id)),
  numbers: column.int4(claimed.map(({ part_no }) => part_no)),
  claims: column.int4(claimed.map(({ claim_number }) => claim_number))
})

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  /** Claims parts for a provider: `due_at` is the time of the claim from then on. */
  const claim = (provider: string, first: number, keys: Statement.Fragment) =>
    Query.findAll({
      Request: Schema.Void,
      Result: ClaimedPart,
      execute: () =>
        sql`with chosen as (${keys}), claimed as (
            update sms_parts p set status = 'sending', due_at = now(), claims = claims + 1, provider = ${provider}
            from chosen c where p.message_id = c.message_id and p.part_no = c.part_no
            returning p.*
          )
          select c.message_id, c.part_no, c.parts, c.encoding, c.body, c.code_seed, c.account_id, c.attempt_count,
            case when c.code_seed is not null then 0 else c.lane - ${first}::smallint + 1 end as lane, c.doubts as unconfirmed_attempts,
            c.claims as claim_number, m.sender, m.recipient, m.batch_id, extract(epoch from now() - greatest(c.created_at, m.send_at))::float8 * 1000 as age_millis
          from claimed c join messages m on m.id = c.message_id order by lane, c.message_id, c.part_no`
    })()

  /** The claims of one mode's sender, which knows the lanes from 0 on. */
  const claimsOf = (mode: Mode, provider: string) => {
    const first = firstLane[mode]
    const isOfMode = mode === "test" ? "m.account_id < 0" : `m.account_id >= 0 and ${laneOf} <= ${lanes.batch}`
    const queued = sql`m.status = 'queued' and ${sql.literal(isOfMode)}`
    const due = dueRows(sql, {
      name: "sms_parts",
      key: ["message_id", "part_no"],
      lane: laneOf,
      lanes: [
        "m.code_seed is not null",
        `m.code_seed is null and m.lane = ${first}`,
        `m.code_seed is null and m.lane = ${first + 1}`
      ]
    })
    const moved = (by: number) => <A extends Turn>(turn: A): A =>
      turn.lane === lanes.code ? turn : { ...turn, lane: turn.lane + by }
    return {
      claimOldest: (limits: ReadonlyArray<number>) => claim(provider, first, due.oldest(queued, limits)),
      waiting: Effect.map(due.waiting(queued), (turns) => turns.map(moved(-first))),
      claimTurns: (turns: ReadonlyArray<AllottedTurn>) =>
        claim(provider, first, due.ofTurns(queued, turns.map(moved(first))))
    }
  }

  /**
   * Renews leases and answers with the renewed claims. Skips parts that another node has reclaimed, and locked rows: their
   * outcome is being written, and waiting could deadlock.
   */
  const renew = (claimed: ReadonlyArray<ClaimedPart>) => {
    const { claims, ids, numbers } = namesOf(claimed)
    const renewed = Query.findAll({
      Request: Schema.Void,
      Result: Schema.Struct({ message_id: MessageId, part_no: Schema.Int, claim_number: Schema.Int }),
      execute: () =>
        sql`with mine as (
            select p.message_id, p.part_no from sms_parts p,
              unnest(${ids}, ${numbers}, ${claims}) as t (message_id, part_no, claims)
            where p.message_id = t.message_id and p.part_no = t.part_no and p.status = 'sending' and p.claims = t.claims
            for update of p skip locked
          )
          update sms_parts p set due_at = now() from mine
          where p.message_id = mine.message_id and p.part_no = mine.part_no
          returning p.message_id, p.part_no, p.claims as claim_number`
    })()
    return Effect.map(
      renewed,
      (rows) => keptClaims(claimed, rows, (row) => `${row.message_id}.${row.part_no}.${row.claim_number}`)
    )
  }

  /**
   * Returns parts of one mode to the queue whose lease has not been renewed for `leaseTimeout`, whichever provider the
   * node that claimed them had. They may have been submitted, so this counts an unconfirmed attempt, and their former
   * node's outcome changes nothing. The second time they fail. `has_failed` is for the part or its message.
   */
  const reclaimExpired = Query.findAll({
    Request: Schema.Struct({ mode: Mode, leaseTimeout: Schema.Duration }),
    Result: Schema.Struct({ message_id: MessageId, has_failed: Schema.Boolean }),
    execute: ({ leaseTimeout, mode }) =>
      sql`with orphaned as (
          select message_id, part_no from sms_parts where status = 'sending' and (account_id < 0) = ${mode === "test"}
            and due_at <= now() - ${Duration.toMillis(leaseTimeout)}::float8 * interval '1 millisecond'
          order by message_id, part_no for update skip locked
        )
        update sms_parts p set doubts = doubts + 1, due_at = now(),
          status = case when doubts = 0 then 'queued' else 'failed' end,
          error_code = case when doubts = 0 then null else ${unconfirmed.error_code} end,
          error_message = case when doubts = 0 then null else ${unconfirmed.error_message} end,
          completed_at = case when doubts = 0 then null else now() end
        from orphaned where p.message_id = orphaned.message_id and p.part_no = orphaned.part_no
        returning p.message_id, p.status = 'failed'
          or exists (select from messages m where m.id = p.message_id and m.status = 'failed') as has_failed`
  })

  /** Returns claims to the queue that have not begun, unless another node has reclaimed them. */
  const release = (claimed: ReadonlyArray<ClaimedPart>) => {
    const { claims, ids, numbers } = namesOf(claimed)
    return Query.run(sql`update sms_parts p set status = 'queued', due_at = now()
      from unnest(${ids}, ${numbers}, ${claims}) as t (message_id, part_no, claims)
      where p.message_id = t.message_id and p.part_no = t.part_no and p.status = 'sending' and p.claims = t.claims`)
  }

  return { claimsOf, renew, release, reclaimExpired }
})

/** SQL of parts from claim to submit. `PartStatusRepo` writes their outcomes. */
export class PartsRepo
  extends Context.Service<PartsRepo>()("messaging-service/channels/sms/parts/PartsRepo", { make })
{
  static readonly layer = Layer.effect(PartsRepo, make)
}
