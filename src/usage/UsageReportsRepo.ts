import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Query from "../platform/database/Query.ts"
import { Day } from "../values/Day.ts"
import { AccountId } from "../values/Ids.ts"
import { Timestamp } from "../values/Timestamp.ts"
import { Granularity, Metric } from "./UsageReport.ts"

const Asked = Schema.Struct({ from: Schema.NullOr(Schema.String), to: Schema.NullOr(Schema.String) })

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

  const used = Query.findAll({
    Request: Schema.Struct({ accountId: AccountId, from: Day, to: Day, granularity: Schema.NullOr(Granularity) }),
    Result: Schema.Struct({ date: Day, metric: Metric, count: Schema.Int, cost_usd: Schema.Finite }),
    execute: ({ accountId, from, granularity, to }) =>
      sql`select ${
        granularity === null ? sql`${from}::text` : sql`date_trunc(${granularity}, day::timestamp)::date::text`
      }
            as date, metric, sum(count)::bigint as count, (sum(cost_micros) / 1000000.0)::float8 as cost_usd
          from usage_daily where account_id = ${accountId} and day >= ${from}::date and day < ${to}::date
          group by 1, 2 having sum(count) > 0 order by 1, 2`
  })

  const thisMonth = Query.findAll({
    Request: AccountId,
    Result: Schema.Struct({ metric: Metric, used: Schema.Int }),
    execute: (accountId) =>
      sql`select metric, sum(count)::bigint as used from usage_daily
        where account_id = ${accountId} and day >= ${month} group by metric`
  })

  const nextMonth = Query.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ begins: Timestamp }),
    execute: () => sql`select (${month} + interval '1 month') at time zone 'UTC' as begins`
  })

  return { span, used, thisMonth, nextMonth }
})

/** SQL that reads `usage_daily`. */
export class UsageReportsRepo
  extends Context.Service<UsageReportsRepo>()("messaging-service/usage/UsageReportsRepo", { make })
{
  static readonly layer = Layer.effect(UsageReportsRepo, make)
}
