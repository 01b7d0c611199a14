import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Notices } from "../accounts/notices/Notices.ts"
import { Database } from "../platform/database/Database.ts"
import * as Query from "../platform/database/Query.ts"
import { counter } from "../platform/observability/series.ts"
import { PeriodicTask } from "../platform/work/PeriodicTask.ts"
import { AccountId } from "../values/Ids.ts"
import { blockHours } from "./Verification.ts"

/** The guard examines a prefix that received at least this many codes in an hour. */
const minCodes = 20

/** At most this many codes of one client network count, so that one visitor of a form cannot block a prefix for all. */
const mostPerNetwork = minCodes / 2

/** Below this share of confirmed codes, the requests come from programs that earn on every SMS. */
const minConfirmedShare = 0.2

const blocks = counter("verification_blocks_total", "Prefixes blocked by the pumping guard")

const Blocked = Schema.Struct({ account_id: AccountId, prefix: Schema.String, sends: Schema.Int, approved: Schema.Int })

const notice = ({ account_id, approved, prefix, sends }: typeof Blocked.Type) => ({
  accountId: account_id,
  kind: "codes_blocked" as const,
  once: prefix,
  subject: `Codes to numbers that begin with ${prefix} are blocked for ${blockHours} hours`,
  body: [
    `In the last hour ${sends} one-time codes went to numbers that begin with ${prefix}, and ${approved} of them were `
    + "entered. A program probably requests codes to earn on the messages (SMS pumping).",
    `No codes are sent to these numbers for ${blockHours} hours; POST /v1/verify/send answers verification_blocked.`,
    "What to do: protect your form against programs, and send client_ip with every request for a code, "
    + "so that each address is limited too."
  ].join("\n\n")
})

/** One round. Ignores codes of the last two minutes, which people may still be typing. */
export const guardAgainstPumping = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { transaction } = yield* Database
  const notices = yield* Notices
  const block = Query.findAll({
    Request: Schema.Void,
    Result: Blocked,
    execute: () =>
      sql`with recent as (
          select s.account_id, s.prefix, v.id, v.status, row_number() over (
              partition by s.account_id, s.prefix, coalesce(s.client_network::text, 'send ' || s.id)
            ) <= ${mostPerNetwork}::integer as counts
          from verification_sends s join verifications v on v.id = s.verification_id
          where s.created_at between now() - interval '1 hour' and now() - interval '2 minutes' and s.prefix is not null
        ), busy as (
          select account_id, prefix, count(*)::integer as sends, count(distinct id) as people,
            count(*) filter (where counts) as counted,
            count(distinct id) filter (where status = 'approved')::integer as approved
          from recent group by account_id, prefix
        ), added as (
          insert into verification_blocks as b (account_id, prefix, until)
          select account_id, prefix, now() + ${sql.literal(`interval '${blockHours} hours'`)} from busy
          where counted >= ${minCodes} and approved < people * ${minConfirmedShare}::float8
          on conflict (account_id, prefix) do update set until = excluded.until, released_at = null
            where b.until <= now()
          returning account_id, prefix
        )
        select busy.* from added join busy using (account_id, prefix)`
  })
  const blocked = yield* transaction(
    Effect.tap(block(), (rows) => Effect.forEach(rows, (row) => notices.enqueue(notice(row)), { discard: true }))
  )
  for (const facts of blocked) {
    blocks(1)
    yield* Effect.logWarning("blocked codes to a prefix, because hardly any is entered").pipe(
      Effect.annotateLogs(facts)
    )
  }
})

/** Blocks phone prefixes whose many codes are hardly ever confirmed. Runs on one node of the cluster. */
export const PumpingGuard = PeriodicTask.make("PumpingGuard", "10 seconds", guardAgainstPumping)
