import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { column } from "../platform/database/column.ts"
import * as Query from "../platform/database/Query.ts"
import { AccountId } from "../values/Ids.ts"
import type { Plan } from "../values/Plan.ts"
import { Metric } from "./UsageReport.ts"

/** The count from which an account on a plan gets a notice. */
export interface Threshold {
  readonly plan: Plan
  readonly metric: Metric
  readonly kind: "warning" | "reached" | "high_volume"
  readonly from: number
  /** The plan's limit. */
  readonly limit: number
}

const Crossed = Schema.Struct({
  account_id: AccountId,
  metric: Metric,
  kind: Schema.Literals(["warning", "reached", "high_volume"]),
  used: Schema.Int,
  limit: Schema.Int
})
export type Crossed = typeof Crossed.Type

const Digest = Schema.Struct({
  account_id: AccountId,
  metric: Metric,
  count: Schema.Int,
  from: Schema.String,
  to: Schema.String
})
export type DigestRow = typeof Digest.Type

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  const month = sql.literal(`date_trunc('month', now() at time zone 'UTC')::date`)

  /**
   * Records and returns the thresholds that this month's usage has newly passed, each once in the cluster, and once more
   * when the limit has risen.
   */
  const cross = (thresholds: ReadonlyArray<Threshold>) =>
    Query.findAll({
      Request: Schema.Void,
      Result: Crossed,
      execute: () =>
        sql`with used as (
            select account_id, metric, sum(count)::bigint as used from usage_daily where day >= ${month} group by 1, 2
          ), crossed as (
            insert into usage_alerts (account_id, month, metric, kind, told_limit)
            select u.account_id, ${month}, u.metric, t.kind, t."limit"
            from used u join accounts a on a.id = u.account_id and a.deleted_at is null and a.shadow_of is null
              join unnest(${column.text(thresholds.map(({ plan }) => plan))},
                ${column.text(thresholds.map(({ metric }) => metric))},
                ${column.text(thresholds.map(({ kind }) => kind))},
                ${column.int8(thresholds.map(({ from }) => from))},
                ${column.int8(thresholds.map(({ limit }) => limit))}) as t (plan, metric, kind, "from", "limit")
                on t.plan = a.plan and t.metric = u.metric and u.used >= t."from"
            order by 1, 3, 4
            on conflict (account_id, month, metric, kind) do update set told_limit = excluded.told_limit
              where usage_alerts.told_limit < excluded.told_limit
            returning account_id, metric, kind, told_limit
          )
          select c.account_id, c.metric, c.kind, u.used, c.told_limit as "limit" from crossed c
            join used u on u.account_id = c.account_id and u.metric = c.metric
          order by c.account_id, c.metric, c.kind`
    })()

  /**
   * Returns last week's usage of accounts where it is Monday 8 o'clock or later, each week once, also after a change of the
   * timezone. Usage counts by days in UTC, so it waits for the end of Sunday there too. An account that has just enabled the
   * digest gets its first one next Monday.
   */
  const endWeeks = Query.findAll({
    Request: Schema.Void,
    Result: Digest,
    execute: () =>
      sql`with clocks as (
          select id, digest_week,
            date_trunc('week', least((now() at time zone timezone) - interval '8 hours', now() at time zone 'UTC'))::date
              as monday
          from accounts where weekly_digest and deleted_at is null
        ), ended as (
          update accounts a set digest_week = c.monday from clocks c
          where a.id = c.id and (a.digest_week is null or a.digest_week < c.monday)
          returning a.id, c.monday, c.digest_week is not null as is_due
        )
        select e.id as account_id, u.metric, sum(u.count)::bigint as count, (e.monday - 7)::text as from,
          (e.monday - 1)::text as to
        from ended e join usage_daily u on u.account_id = e.id and u.day >= e.monday - 7 and u.day < e.monday
        where e.is_due group by e.id, u.metric, e.monday having sum(u.count) > 0 order by e.id, u.metric`
  })

  return { cross, endWeeks }
})

/** SQL of the thresholds and digests. */
export class UsageAlertsRepo
  extends Context.Service<UsageAlertsRepo>()("messaging-service/usage/UsageAlertsRepo", { make })
{
  static readonly layer = Layer.effect(UsageAlertsRepo, make)
}
