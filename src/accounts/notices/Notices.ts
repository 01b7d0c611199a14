import { PgClient } from "@effect/sql-pg"
import { Context, Duration, Effect, Layer, Record, Schema } from "effect"
import type { Statement } from "effect/sql"
import { column } from "../../platform/database/column.ts"
import * as Query from "../../platform/database/Query.ts"
import { keptClaims } from "../../platform/work/Claims.ts"
import { dueRows } from "../../platform/work/dueRows.ts"
import type { AllottedTurn, Turn } from "../../platform/work/FairClaims.ts"
import { NoticeId } from "../../values/Ids.ts"
import { Timestamp } from "../../values/Timestamp.ts"
import { ClaimedNotice, laneOf, type Notice, type NoticeSettled, toggleOf } from "./Notice.ts"

/** How to claim notices. */
export interface Claim {
  readonly inFlight: ReadonlyArray<NoticeId>
  /** The domain of new Message-IDs. */
  readonly domain: string
  /** Fails a notice after this many attempts that ended without a recorded result. */
  readonly maxAttempts: number
}

/** The kinds that an owner can switch off, with the column of their setting. */
const optional = Record.toEntries(toggleOf).filter(([, toggle]) => toggle !== "always")

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  const insert = ({ accountId, body, kind, once, recipient, subject }: Notice) =>
    Query.run(sql`insert into notices (account_id, lane, kind, once, recipient, subject, body)
      values (${accountId}, ${laneOf(kind)}, ${kind}, ${once ?? null}, ${recipient ?? null}, ${subject}, ${body})
      on conflict do nothing`)

  /** A notice in flight stays queued. */
  const queued = (inFlight: ReadonlyArray<NoticeId>) =>
    sql`m.status = 'queued' and m.id <> all(${column.int8(inFlight)})`

  const due = dueRows(sql, { name: "notices", key: ["id"], lane: "m.lane", lanes: ["m.lane = 0", "m.lane = 1"] })

  const claim = ({ domain, maxAttempts }: Claim, keys: Statement.Fragment) =>
    Query.findAll({
      Request: Schema.Void,
      Result: ClaimedNotice,
      execute: () =>
        sql`with chosen as (${keys}), due as (
          select n.id, n.attempt_count < ${maxAttempts} as is_left,
            coalesce((to_jsonb(a) ->> t.toggle)::boolean, true) and a.deleted_at is null and a.shadow_of is null as is_wanted
          from chosen join notices n on n.id = chosen.id join accounts a on a.id = n.account_id
            left join unnest(${column.text(optional.map(([kind]) => kind))}, ${
          column.text(optional.map(([, toggle]) => toggle))
        }) as t (kind, toggle)
              on t.kind = n.kind
        ), unwanted as (
          update notices n set status = 'unwanted', due_at = null, completed_at = now(), sealed_body = null
          from due where n.id = due.id and not due.is_wanted
        ), given_up as (
          update notices n set status = 'failed', due_at = null, completed_at = now(), sealed_body = null,
            error = 'interrupted before the relay had confirmed it'
          from due where n.id = due.id and due.is_wanted and not due.is_left
        )
        update notices n set attempt_count = n.attempt_count + 1,
          message_id = coalesce(n.message_id, gen_random_uuid() || '@' || ${domain}::text)
        from due, accounts a where n.id = due.id and due.is_wanted and due.is_left and a.id = n.account_id
        returning n.id, n.account_id, n.lane, n.subject, n.body, n.sealed_body, n.message_id, n.attempt_count,
          n.due_at, n.doubts as unconfirmed_attempts, n.created_at, coalesce(n.recipient, a.email) as email,
          case when n.recipient is null then a.name else '' end as name`
    })()

  const claims = {
    claimOldest: (asked: Claim, limits: ReadonlyArray<number>) =>
      claim(asked, due.oldest(queued(asked.inFlight), limits)),
    waiting: (inFlight: ReadonlyArray<NoticeId>) => due.waiting(queued(inFlight)),
    claimTurns: (asked: Claim, turns: ReadonlyArray<AllottedTurn>) =>
      claim(asked, due.ofTurns(queued(asked.inFlight), turns))
  }

  const settle = ({ attempt_count, due_at, id }: ClaimedNotice, settled: NoticeSettled) => {
    const millis = settled.delay === undefined ? null : Duration.toMillis(settled.delay)
    // A token is deleted as soon as its mail settles. Nodes of an older version have it in the body.
    return Query.run(sql`update notices set status = ${settled.status}, attempt_count = ${settled.attempt_count},
        error = ${settled.error}, doubts = doubts + ${settled.isUnconfirmed}::boolean::int,
        due_at = now() + ${millis}::float8 * interval '1 millisecond',
        completed_at = case when ${settled.status}::text <> 'queued' then now() end,
        sealed_body = case when ${settled.status}::text = 'queued' then sealed_body end,
        body = case when kind = 'password_reset' and ${settled.status}::text <> 'queued' then '' else body end
      where id = ${id} and status = 'queued' and attempt_count = ${attempt_count} and due_at = ${due_at}::timestamptz`)
  }

  /** How these notices are claimed now, without those that have ended. */
  const currentClaims = (claimed: ReadonlyArray<ClaimedNotice>) =>
    Query.findAll({
      Request: Schema.Void,
      Result: Schema.Struct({ id: NoticeId, attempt_count: Schema.Int, due_at: Timestamp }),
      execute: () =>
        sql`select id, attempt_count, due_at from notices
          where id = any(${column.int8(claimed.map(({ id }) => id))}) and status = 'queued'`
    })()

  return { insert, ...claims, settle, currentClaims }
})

/** SQL of `notices`. */
class NoticesRepo
  extends Context.Service<NoticesRepo>()("messaging-service/accounts/notices/Notices/NoticesRepo", { make })
{
  static readonly layer = Layer.effect(NoticesRepo, make)
}

/**
 * The outbox of mails from the service to account owners. Statements of other domains may insert the same rows
 * directly: `insert into notices (account_id, kind, once, subject, body) select … on conflict do nothing`.
 */
export class Notices extends Context.Service<Notices, {
  /** Writes a notice in the caller's transaction, so that the change and its mail commit together. */
  readonly enqueue: (notice: Notice) => Effect.Effect<void>
  /**
   * Starts an attempt for the oldest due notices, those about security first. They stay due until they settle, so after a
   * crash the next sender finds them at once, with one attempt fewer and the same Message-ID. `limits`: the most of each
   * lane together with the later ones.
   */
  readonly claimOldest: (claim: Claim, limits: ReadonlyArray<number>) => Effect.Effect<ReadonlyArray<ClaimedNotice>>
  /** The accounts with due notices that are not in flight. */
  readonly waiting: (inFlight: ReadonlyArray<NoticeId>) => Effect.Effect<ReadonlyArray<Turn>>
  /** Starts an attempt for the oldest due notices of each turn. */
  readonly claimTurns: (
    claim: Claim,
    turns: ReadonlyArray<AllottedTurn>
  ) => Effect.Effect<ReadonlyArray<ClaimedNotice>>
  /** Records the result of an attempt, unless another sender has started a newer one. */
  readonly settle: (claimed: ClaimedNotice, settled: NoticeSettled) => Effect.Effect<void>
  /** Those of the claims that no other sender has claimed since. */
  readonly stillClaimed: (claimed: ReadonlyArray<ClaimedNotice>) => Effect.Effect<ReadonlyArray<ClaimedNotice>>
}>()("messaging-service/accounts/notices/Notices") {
  static readonly layer = Layer.effect(
    Notices,
    Effect.gen(function*() {
      const repo = yield* NoticesRepo
      return Notices.of({
        enqueue: Effect.fn("Notices.enqueue")((notice) => repo.insert(notice)),
        claimOldest: repo.claimOldest,
        waiting: repo.waiting,
        claimTurns: repo.claimTurns,
        settle: (claimed, settled) => repo.settle(claimed, settled),
        stillClaimed: Effect.fn("Notices.stillClaimed")(function*(claimed) {
          const rows = yield* repo.currentClaims(claimed)
          return keptClaims(claimed, rows, (row) => `${row.id}.${row.attempt_count}.${row.due_at}`)
        })
      })
    })
  ).pipe(Layer.provide(NoticesRepo.layer))
}
