import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Query from "../platform/database/Query.ts"
import { taggedRows } from "../platform/database/taggedRows.ts"
import { Day } from "../values/Day.ts"
import { AccountId } from "../values/Ids.ts"
import { isTest } from "../values/TestMode.ts"
import { Timestamp } from "../values/Timestamp.ts"
import { messageCounts } from "./messageCounts.ts"
import { Granularity, Metric } from "./UsageReport.ts"

const Asked = Schema.Struct({ from: Schema.NullOr(Schema.String), to: Schema.NullOr(Schema.String) })

const Asking = Schema.Struct({ accountId: AccountId, from: Day, to: Day, granularity: Schema.NullOr(Granularity) })

const Group = Schema.Struct({ date: Day, metric: Metric, count: Schema.Int, cost_usd: Schema.Finite })

const Span = Schema.Struct({ from: Day, to: Day, days: Schema.Int })

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  const month = sql.literal(`date_trunc('month', now() at time zone 'UTC')`)

  /** The days of the given moments; the current month by default. */
  const span = Query.findOne({
    Request: Asked,
    Result: Span,
    execute: ({ from, to }) =>
      sql`select first::text as from, last::text as to, last - first as days from (
          select coalesce((${from}::timestamptz at time zone 'UTC')::date, ${month}::date) as first,
            coalesce((${to}::timestamptz at time zone 'UTC')::date, (${month} + interval '1 month')::date) as last) as t`
  })

  const group = ({ from, granularity }: typeof Asking.Encoded) =>
    granularity === null ? sql`${from}::text` : sql`date_trunc(${granularity}, day::timestamp)::date::text`

  const used = Query.findAll({
    Request: Asking,
    Result: Group,
    execute: ({ accountId, from, granularity, to }) =>
      sql`select ${
        group({ accountId, from, granularity, to })
      } as date, metric, sum(count)::bigint as count, (sum(cost_micros) / 1000000.0)::float8 as cost_usd
          from usage_daily where account_id = ${accountId} and day >= ${from}::date and day < ${to}::date
          group by 1, 2 having sum(count) > 0 order by 1, 2`
  })

  const usedWithTags = Query.findAll({
    Request: Schema.Struct({ ...Asking.fields, tags: Schema.Array(Schema.String) }),
    Result: Group,
    execute: ({ tags, ...asking }) => {
      const { accountId, from, to } = asking
      const counted = messageCounts(
        sql,
        (table, at) =>
          sql`${sql.literal(table)}.account_id = ${accountId} and ${taggedRows(sql, { accountId, tags }, `${table}.`)}
          and ${sql.literal(at)} >= ${from}::date::timestamp at time zone 'UTC'
          and ${sql.literal(at)} < ${to}::date::timestamp at time zone 'UTC'`
      )
      return sql`select ${group(asking)} as date, metric, sum(count)::bigint as count,
          (sum(cost) / 1000000.0)::float8 as cost_usd
        from (${counted}) as t group by 1, 2 having sum(count) > 0 order by 1, 2`
    }
  })

  /** When the period of a quota began: for a test account it is a day. */
  const begins = (accountId: number) =>
    isTest(accountId) ? sql.literal("date_trunc('day', now() at time zone 'UTC')") : month

  const inPeriod = Query.findOne({
    Request: AccountId,
    Result: Schema.Struct({ resets_at: Timestamp, used: Schema.Record(Schema.String, Schema.Int) }),
    execute: (accountId) =>
      sql`select (${begins(accountId)} + ${sql.literal(isTest(accountId) ? "interval '1 day'" : "interval '1 month'")})
          at time zone 'UTC' as resets_at,
        coalesce((select jsonb_object_agg(metric, used) from (
          select metric, sum(count)::bigint as used from usage_daily
            where account_id = ${accountId} and day >= ${begins(accountId)} group by metric) as counted), '{}') as used`
  })

  return { span, used, usedWithTags, inPeriod }
})

/** SQL that reads `usage_daily`, and counts the messages with some tags. */
export class UsageReportsRepo
  extends Context.Service<UsageReportsRepo>()("messaging-service/usage/UsageReportsRepo", { make })
{
  static readonly layer = Layer.effect(UsageReportsRepo, make)
}
