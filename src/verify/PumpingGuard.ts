import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Notices } from "../accounts/Notices.ts"
import { Database } from "../platform/database/Database.ts"
import * as Query from "../platform/database/Query.ts"
import { PeriodicTask } from "../platform/work/PeriodicTask.ts"
import { AccountId } from "../values/Ids.ts"

/** Codes to one prefix in an hour, from which on it is looked at how many of them were entered. */
const least = 20

/** Fewer than this part of those who asked entered one: people do not, programs that earn on every SMS do. */
const share = 0.2

const Blocked = Schema.Struct({ account_id: AccountId, prefix: Schema.String, sends: Schema.Int, approved: Schema.Int })

const notice = ({ account_id, approved, prefix, sends }: typeof Blocked.Type) => ({
  accountId: account_id,
  kind: "codes_blocked" as const,
  once: prefix,
  subject: `Codes to numbers that begin with ${prefix} are blocked for 12 hours`,
  body: [
    `In the last hour ${sends} one-time codes went to numbers that begin with ${prefix}, and ${approved} of them were `
    + "entered. So it looks as if somebody asks for codes only to earn on the messages (SMS pumping).",
    "What happens now: no code is sent to these numbers for 12 hours; POST /v1/verify/send answers verification_blocked.",
    "What to do: see that your form cannot be filled in by programs, and give client_ip with every code that is asked for, "
    + "so that each address is limited as well."
  ].join("\n\n")
})

/** One look. Codes of the last two minutes do not count: their people are still typing. */
export const guardAgainstPumping = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { transaction } = yield* Database
  const notices = yield* Notices
  const block = Query.findAll({
    Request: Schema.Void,
    Result: Blocked,
    execute: () =>
      sql`with busy as (
          select s.account_id, s.prefix, count(*)::integer as sends, count(distinct v.id) as people,
            count(distinct v.id) filter (where v.status = 'approved')::integer as approved
          from verification_sends s join verifications v on v.id = s.verification_id
          where s.created_at between now() - interval '1 hour' and now() - interval '2 minutes' and s.prefix is not null
          group by s.account_id, s.prefix
        ), added as (
          insert into verification_blocks as b (account_id, prefix, until)
          select account_id, prefix, now() + interval '12 hours' from busy
          where sends >= ${least} and approved < people * ${share}::float8
          on conflict (account_id, prefix) do update set until = excluded.until where b.until <= now()
          returning account_id, prefix
        )
        select busy.* from added join busy using (account_id, prefix)`
  })
  yield* transaction(Effect.gen(function*() {
    const blocked = yield* block()
    yield* Effect.forEach(blocked, (each) => notices.enqueue(notice(each)), { discard: true })
  }))
})

/** Blocks prefixes of phone numbers to which many codes go that nobody enters, by one node of the cluster. */
export const PumpingGuard = PeriodicTask.make("PumpingGuard", "10 seconds", guardAgainstPumping)
