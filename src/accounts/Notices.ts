import { PgClient } from "@effect/sql-pg"
import { Context, Duration, Effect, Layer, Record, Schema } from "effect"
import { column } from "../platform/database/column.ts"
import * as Query from "../platform/database/Query.ts"
import { NoticeId } from "../values/Ids.ts"
import { ClaimedNotice, type Notice, type NoticeSettled, toggleOf } from "./Notice.ts"

const Claim = Schema.Struct({
  /** The most notices to claim. */
  limit: Schema.Int,
  inFlight: Schema.Array(NoticeId),
  /** The domain of new Message-IDs. */
  domain: Schema.String,
  /** Fails a notice after this many attempts that ended without a recorded result. */
  maxAttempts: Schema.Int
})
export type Claim = typeof Claim.Type

/** The kinds that an owner can switch off, with the column of their setting. */
const optional = Record.toEntries(toggleOf).filter(([, toggle]) => toggle !== "always")

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  const insert = ({ accountId, body, kind, once, recipient, subject }: Notice) =>
    Query.run(sql`insert into notices (account_id, kind, once, recipient, subject, body)
      values (${accountId}, ${kind}, ${once ?? null}, ${recipient ?? null}, ${subject}, ${body})
      on conflict do nothing`)

  const claim = Query.findAll({
    Request: Claim,
    Result: ClaimedNotice,
    execute: ({ domain, inFlight, limit, maxAttempts }) =>
      sql`with due as (
          select n.id, n.attempt_count < ${maxAttempts} as is_left,
            coalesce((to_jsonb(a) ->> t.toggle)::boolean, true) and a.deleted_at is null as is_wanted
          from notices n join accounts a on a.id = n.account_id
            left join unnest(${column.text(optional.map(([kind]) => kind))}, ${
        column.text(optional.map(([, toggle]) => toggle))
      }) as t (kind, toggle)
              on t.kind = n.kind
          where n.status = 'queued' and n.due_at <= now() and n.id <> all(${column.int8(inFlight)})
          order by n.due_at limit ${limit} for update of n skip locked
        ), unwanted as (
          update notices n set status = 'unwanted', due_at = null, completed_at = now()
          from due where n.id = due.id and not due.is_wanted
        ), given_up as (
          update notices n set status = 'failed', due_at = null, completed_at = now(),
            error = 'interrupted before the relay had confirmed it'
          from due where n.id = due.id and due.is_wanted and not due.is_left
        )
        update notices n set attempt_count = n.attempt_count + 1,
          message_id = coalesce(n.message_id, gen_random_uuid() || '@' || ${domain}::text)
        from due, accounts a where n.id = due.id and due.is_wanted and due.is_left and a.id = n.account_id
        returning n.id, n.account_id, n.subject, n.body, n.message_id, n.attempt_count,
          n.doubts as unconfirmed_attempts, n.created_at, a.name, coalesce(n.recipient, a.email) as email`
  })

  const settle = ({ attempt_count, id }: ClaimedNotice, settled: NoticeSettled) => {
    const millis = settled.delay === undefined ? null : Duration.toMillis(settled.delay)
    // A reset token is deleted as soon as its mail settles.
    return Query.run(sql`update notices set status = ${settled.status}, attempt_count = ${settled.attempt_count},
        error = ${settled.error}, doubts = doubts + ${settled.ambiguous}::boolean::int,
        due_at = now() + ${millis}::float8 * interval '1 millisecond',
        completed_at = case when ${settled.status}::text <> 'queued' then now() end,
        body = case when kind = 'password_reset' and ${settled.status}::text <> 'queued' then '' else body end
      where id = ${id} and status = 'queued' and attempt_count = ${attempt_count}`)
  }

  const stillClaimed = (claimed: ReadonlyArray<ClaimedNotice>) =>
    Query.findAll({
      Request: Schema.Void,
      Result: Schema.Struct({ id: NoticeId }),
      execute: () =>
        sql`select n.id from notices n join unnest(${column.int8(claimed.map(({ id }) => id))},
            ${column.int4(claimed.map(({ attempt_count }) => attempt_count))}) as t (id, attempts) on n.id = t.id
          where n.status = 'queued' and n.attempt_count = t.attempts`
    })()

  return { insert, claim, settle, stillClaimed }
})

/** SQL of `notices`. */
class NoticesRepo extends Context.Service<NoticesRepo>()("messaging-service/accounts/Notices/NoticesRepo", { make }) {
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
   * Starts an attempt for due notices. They stay due until they settle, so after a crash the next sender finds them at
   * once, with one attempt fewer and the same Message-ID.
   */
  readonly claim: (claim: Claim) => Effect.Effect<ReadonlyArray<ClaimedNotice>>
  /** Records the result of an attempt, unless another sender has started a newer one. */
  readonly settle: (claimed: ClaimedNotice, settled: NoticeSettled) => Effect.Effect<void>
  /** Those of the claims that no other sender has claimed since. */
  readonly stillClaimed: (claimed: ReadonlyArray<ClaimedNotice>) => Effect.Effect<ReadonlyArray<ClaimedNotice>>
}>()("messaging-service/accounts/Notices") {
  static readonly layer = Layer.effect(
    Notices,
    Effect.gen(function*() {
      const repo = yield* NoticesRepo
      return Notices.of({
        enqueue: Effect.fn("Notices.enqueue")((notice) => repo.insert(notice)),
        claim: (claim) => repo.claim(claim),
        settle: (claimed, settled) => repo.settle(claimed, settled),
        stillClaimed: Effect.fn("Notices.stillClaimed")(function*(claimed) {
          const kept = new Set((yield* repo.stillClaimed(claimed)).map(({ id }) => id))
          return claimed.filter(({ id }) => kept.has(id))
        })
      })
    })
  ).pipe(Layer.provide(NoticesRepo.layer))
}
