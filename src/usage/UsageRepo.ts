import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import { column } from "../platform/database/column.ts"
import * as Query from "../platform/database/Query.ts"
import { AccountId } from "../values/Ids.ts"
import { Plan } from "../values/Plan.ts"
import type { Timestamp } from "../values/Timestamp.ts"
import { Metric } from "./UsageReport.ts"

/** One use of a metric by an account. */
export interface Used {
  readonly accountId: AccountId
  readonly metric: Metric
  readonly count: number
  /** The moment of use, of which the day (UTC) counts. Defaults to the start of the current transaction. */
  readonly at?: Timestamp | undefined
  readonly costMicros?: number | undefined
}

/** A requested amount of a metric. */
export const Wanted = Schema.Struct({ accountId: AccountId, count: Schema.Int })
export type Wanted = typeof Wanted.Type

const make = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient

  const today = sql.literal(`(now() at time zone 'UTC')::date`)
  /** One of eight, so that most connections write different rows. */
  const slot = sql.literal("pg_backend_pid() % 8")
  const added = sql.literal(`on conflict (account_id, day, metric, slot)
    do update set count = u.count + excluded.count, cost_micros = u.cost_micros + excluded.cost_micros`)

  /** Adds the accepted messages of `used` to the statistics of their hour. They count cancellations as a separate outcome. */
  const accepted = sql.literal(`insert into message_stat_entries (account_id, hour, channel, outcome, reason, count)
    select account_id, date_trunc('hour', now()), metric, 'accepted', '', count from used
    where metric in ('email', 'sms', 'whatsapp') and count > 0`)

  /** Locks rows in a fixed order, so that concurrent groups cannot deadlock. Ignores deleted accounts. */
  const add = (used: ReadonlyArray<Used>) =>
    Query.run(sql`with used as (
        select a.id as account_id, coalesce((t.at at time zone 'UTC')::date, ${today}) as day, t.metric,
          sum(t.count) as count, sum(t.cost) as cost
        from unnest(${column.int8(used.map(({ accountId }) => accountId))}, ${column.text(used.map((u) => u.metric))},
          ${column.int8(used.map(({ count }) => count))}, ${column.int8(used.map((u) => u.costMicros ?? 0))},
          ${column.text(used.map(({ at }) => at ?? null))}::timestamptz[]) as t (account_id, metric, count, cost, at)
        join accounts a on a.id = t.account_id
        group by 1, 2, 3
      ), accepted as (${accepted})
      insert into usage_daily as u (account_id, day, metric, slot, count, cost_micros)
      select account_id, day, metric, ${slot}, count, cost from used order by 1, 2, 3
      ${added}`)

  /** Adds for the live accounts on one of the plans, and returns these accounts. */
  const addOnPlans = Query.findAll({
    Request: Schema.Struct({ metric: Metric, wanted: Schema.Array(Wanted), plans: Schema.Array(Plan) }),
    Result: Schema.Struct({ account_id: AccountId }),
    execute: ({ metric, plans, wanted }) =>
      sql`with used as (
          select a.id as account_id, ${metric}::text as metric, sum(t.count) as count
          from unnest(${column.int8(wanted.map(({ accountId }) => accountId))},
            ${column.int8(wanted.map(({ count }) => count))}) as t (account_id, count)
          join accounts a on a.id = t.account_id where a.plan = any(${column.text(plans)}) and a.shadow_of is null
          group by a.id
        ), accepted as (${accepted})
        insert into usage_daily as u (account_id, day, metric, slot, count, cost_micros)
        select account_id, ${today}, metric, ${slot}, count, 0 from used order by account_id
        ${added} returning account_id`
  })

  /**
   * Locks the accounts' rows until the transaction ends, so that uses of a quota add up one by one. Without `wait`,
   * skips locked accounts.
   */
  const lockAccounts = Query.findAll({
    Request: Schema.Struct({ ids: Schema.Array(AccountId), wait: Schema.Boolean }),
    Result: Schema.Struct({ id: AccountId, plan: Plan }),
    execute: ({ ids, wait }) =>
      sql`select id, plan from accounts where id = any(${column.int8(ids)}) order by id
        for no key update ${sql.literal(wait ? "" : "skip locked")}`
  })

  /** A separate statement after the lock: a statement that waits for a lock sees the rows of the time of its start. */
  const usedInPeriod = Query.findAll({
    Request: Schema.Struct({ accountIds: Schema.Array(AccountId), metric: Metric }),
    Result: Schema.Struct({ account_id: AccountId, used: Schema.Int }),
    execute: ({ accountIds, metric }) =>
      sql`select account_id, sum(count)::bigint as used from usage_daily
        where account_id = any(${column.int8(accountIds)}) and metric = ${metric}
          and day >= case when account_id < 0 then ${today} else date_trunc('month', ${today}) end
        group by account_id`
  })

  return { add, addOnPlans, lockAccounts, usedInPeriod }
})

/** SQL that writes `usage_daily`. */
export class UsageRepo extends Context.Service<UsageRepo>()("messaging-service/usage/UsageRepo", { make }) {
  static readonly layer = Layer.effect(UsageRepo, make)
}
