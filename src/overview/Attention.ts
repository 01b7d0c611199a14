import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { Accounts } from "../accounts/Accounts.ts"
import { SessionStatus } from "../channels/whatsapp/model/SessionState.ts"
import { DomainStatus } from "../email-domains/EmailDomain.ts"
import { SummaryChannel } from "../messages/MessageSummary.ts"
import { People } from "../people/People.ts"
import * as Query from "../platform/database/Query.ts"
import { UpstreamOutages } from "../platform/work/UpstreamOutages.ts"
import type { UsageReport } from "../usage/UsageReport.ts"
import { UsageReports } from "../usage/UsageReports.ts"
import { shownUrl } from "../values/HttpsUrl.ts"
import { AccountId } from "../values/Ids.ts"
import { isTest, storedLane } from "../values/TestMode.ts"
import { fromDateTime, Timestamp } from "../values/Timestamp.ts"
import { BlockedPrefix, blockHours } from "../verify/Verification.ts"
import { UnhealthyReason } from "../webhooks/endpoint/Webhook.ts"
import { type AttentionFacts, type AttentionItem, attentionOf } from "./attentionOf.ts"
import { Statistics } from "./Statistics.ts"

const named = { id: Schema.Int, name: Schema.String }

/** Whether an account has a key, a sending domain and a webhook, and whether it has sent or received a message. */
const FirstSteps = Schema.Struct({
  key: Schema.Boolean,
  domain: Schema.Boolean,
  webhook: Schema.Boolean,
  message: Schema.Boolean
})
export type FirstSteps = typeof FirstSteps.Type

/** Rows of a kind that are looked at. More than these in trouble have one cause. */
const mostRows = 100

/** What is looked at in one account. */
const Facts = Schema.Struct({
  webhooks: Schema.Array(Schema.Struct({
    ...named,
    unhealthy_reason: Schema.NullOr(UnhealthyReason),
    failure_count: Schema.Int,
    failing_since: Schema.NullOr(Timestamp)
  })),
  sessions: Schema.Array(Schema.Struct({ ...named, status: SessionStatus, since: Timestamp })),
  domains: Schema.Array(Schema.Struct({
    ...named,
    status: DomainStatus,
    failing_since: Schema.NullOr(Timestamp),
    pending_since: Timestamp
  })),
  keys: Schema.Array(Schema.Struct({ ...named, expires_at: Schema.NullOr(Timestamp), used_at: Timestamp })),
  blocks: Schema.Array(BlockedPrefix),
  waiting: Schema.Array(Schema.Struct({
    channel: SummaryChannel,
    is_code: Schema.Boolean,
    since: Timestamp
  }))
})

const makeRepo = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const limit = sql.literal(`limit ${mostRows}`)

  /** An instant within JSON. */
  const time = (value: string) => sql.literal(`to_char((${value}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`)

  const webhooks = (id: number) =>
    sql`select id, url as name, unhealthy_reason, failure_count, ${time("failing_since")} as failing_since from webhooks
      where account_id = ${id} and is_active and (unhealthy_reason is not null or failure_count >= 3)
      order by id desc ${limit}`

  const sessions = (id: number) =>
    sql`select id, name, status, ${time("status_since")} as since from whatsapp_sessions
      where account_id = ${id} and desired <> 'removed' and status <> 'connected' order by id desc ${limit}`

  const domains = (id: number) =>
    sql`select id, domain as name, status, ${time("failing_since")} as failing_since, ${
      time("pending_since")
    } as pending_since
      from email_domains where account_id = ${id} and (status = 'pending' or email_domains.failing_since is not null)
      order by id desc ${limit}`

  const keys = (id: number) =>
    sql`select id, name, ${time("expires_at")} as expires_at, ${time("coalesce(last_used_at, created_at)")} as used_at
      from api_keys where account_id = ${id} and rotated_at is null order by id desc ${limit}`

  const blocks = (id: number) =>
    sql`select prefix, ${time(`until - interval '${blockHours} hours'`)} as since, ${
      time("until")
    } as until from verification_blocks b
      where account_id = ${id} and b.until > now() and released_at is null ${limit}`

  /** Codes have an index, as a queue may have many messages before them. */
  const waitingOf = (id: number, isCode: boolean) =>
    sql`select 'whatsapp', ${sql.literal(String(isCode))}, ${time("min(oldest.since)")}
      from whatsapp_sessions s cross join lateral (
        select coalesce(m.send_at, m.created_at) as since
        from whatsapp_outbox o join messages m on m.id = o.message_id
        where m.account_id = ${id} and o.session_id = s.id and o.status = 'queued' and o.lane = 0
          and o.code_seed is ${sql.literal(isCode ? "not null" : "null")} and o.attempt_count = 0
        order by o.message_id limit 100
      ) as oldest
      where s.account_id = ${id} and s.desired <> 'removed' and not exists (select from whatsapp_outbox w
        where w.session_id = s.id and w.written_at > now() - interval '1 minute')
      having count(*) > 0`

  /**
   * Reads the oldest of a queue, which is long while the relay or the carrier is away. A session that has sent within the
   * last minute is not late: its limits make messages wait for each other.
   */
  const waiting = (id: number) =>
    sql`select 'email' as channel, lane.is_code, ${time("min(oldest.since)")} as since
      from (values (${storedLane(id, 0)}::smallint, true), (${
      storedLane(id, 1)
    }::smallint, false)) as lane (no, is_code)
      cross join lateral (
        select coalesce(send_at, created_at) as since from email_messages
        where account_id = ${id} and lane = lane.no and status = 'queued' and batch_id is null and attempt_count = 0
        order by due_at limit 1000
      ) as oldest group by 2
      union all
      select 'sms', lane.is_code, ${time("min(oldest.since)")}
      from (values (0, true), (${storedLane(id, 0) + 1}::integer, false)) as lane (no, is_code)
      cross join lateral (
        select coalesce(m.send_at, m.created_at) as since
        from sms_parts p join messages m on m.id = p.message_id
        where p.account_id = ${id} and case when p.code_seed is not null then 0 else p.lane + 1 end = lane.no
          and p.status = 'queued' and p.attempt_count = 0 and p.due_at is not null
        order by p.due_at limit 1000
      ) as oldest group by 2
      union all
      ${waitingOf(id, true)}
      union all
      ${waitingOf(id, false)}`

  const rows = (query: Statement.Fragment) => sql`coalesce((select jsonb_agg(r) from (${query}) r), '[]')`

  return {
    /** All in one statement, because a page waits for each. */
    facts: Query.findOne({
      Request: AccountId,
      Result: Facts,
      execute: (id) =>
        sql`select ${rows(webhooks(id))} as webhooks, ${rows(sessions(id))} as sessions, ${
          rows(domains(id))
        } as domains,
          ${rows(keys(id))} as keys, ${rows(blocks(id))} as blocks, ${rows(waiting(id))} as waiting`
    }),
    /** Keys of a live account include those of its shadow account. */
    firstSteps: Query.findOne({
      Request: AccountId,
      Result: FirstSteps,
      execute: (id) =>
        sql`select exists (select from api_keys where account_id in (${id}, -abs(${id}))) as key,
          exists (select from email_domains where account_id = ${id}) as domain,
          exists (select from webhooks where account_id = ${id}) as webhook,
          exists (select from email_messages where account_id = ${id})
            or exists (select from messages where account_id = ${id}) as message`
    })
  }
})

/** What needs attention in an account, and what it has done first. */
export class Attention extends Context.Service<Attention, {
  /** The worst first, and the quotas of the month, which some are about. */
  readonly of: (
    accountId: AccountId
  ) => Effect.Effect<{ readonly items: ReadonlyArray<AttentionItem>; readonly quotas: UsageReport["quotas"] }>
  readonly firstSteps: (accountId: AccountId) => Effect.Effect<FirstSteps>
}>()("messaging-service/overview/Attention") {
  static readonly layer = Layer.effect(
    Attention,
    Effect.gen(function*() {
      const repo = yield* makeRepo
      const accounts = yield* Accounts
      const people = yield* People
      const reports = yield* UsageReports
      const statistics = yield* Statistics
      const outages = yield* UpstreamOutages

      const mailOf = Effect.fnUntraced(function*(accountId: AccountId) {
        const asked = { granularity: "hour", timezone: "UTC", channel: "email" } as const
        const rows = yield* statistics.read(accountId, asked)
        const sum = (wanted: (row: typeof rows[number]) => boolean) =>
          rows.reduce((total, row) => wanted(row) ? total + row.count : total, 0)
        return {
          sent: sum(({ outcome }) => outcome === "sent"),
          bounced: sum(({ outcome, reason }) => outcome === "failed" && reason.startsWith("bounced")),
          complained: sum(({ outcome }) => outcome === "complained")
        }
      })

      /** An owner who never signed in needs no second factor. */
      const isProtected = (accountId: AccountId) =>
        Effect.map(
          people.members(accountId),
          (members) =>
            members.every(({ has_second_factor, last_sign_in_at, role }) =>
              role !== "owner" || last_sign_in_at === null || has_second_factor
            )
        )

      const factsOf = Effect.fnUntraced(function*(accountId: AccountId) {
        const account = Option.getOrThrow(yield* accounts.find(accountId))
        const { facts, ...others } = yield* Effect.all({
          facts: repo.facts(accountId),
          outages: isTest(accountId) ? Effect.succeed([]) : outages.current,
          mail: mailOf(accountId),
          quotas: reports.quotas({ id: accountId, plan: account.plan }),
          has_second_factor: isTest(accountId) ? Effect.succeed(null) : isProtected(accountId)
        }, { concurrency: 2 })
        return {
          now: fromDateTime(yield* DateTime.now),
          ...facts,
          ...others,
          webhooks: facts.webhooks.map((webhook) => ({ ...webhook, name: shownUrl(webhook.name) })),
          trial_ends_at: account.status === "trial" ? account.trial_ends_at : null
        } satisfies AttentionFacts
      })

      return Attention.of({
        firstSteps: repo.firstSteps,
        of: Effect.fn("Attention.of")((accountId) =>
          Effect.map(Effect.orDie(factsOf(accountId)), (facts) => ({
            items: attentionOf(facts),
            quotas: facts.quotas
          }))
        )
      })
    })
  )
}
