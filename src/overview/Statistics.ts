import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { askedPeriod } from "../messages/askedPeriod.ts"
import { SummaryChannel } from "../messages/MessageSummary.ts"
import * as Query from "../platform/database/Query.ts"
import type { ValidationFailed } from "../platform/http/ApiErrors.ts"
import { AccountId } from "../values/Ids.ts"
import { Timezone } from "../values/Locale.ts"
import { type AskedStatistics, StatisticsRow, StatisticsUnit } from "./StatisticsRow.ts"

const spans = { hour: { usual: "24 hours", most: "31 days" }, day: { usual: "30 days", most: "366 days" } } as const

const Asked = Schema.Struct({
  accountId: AccountId,
  /** Milliseconds since 1970: as texts, times at the ends of the calendar have forms that PostgreSQL refuses. */
  from: Schema.Int,
  to: Schema.Int,
  granularity: StatisticsUnit,
  timezone: Timezone,
  channel: Schema.NullOr(SummaryChannel)
})

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  const read = Query.findAll({
    Request: Asked,
    Result: StatisticsRow,
    execute: ({ accountId, channel, from, granularity, timezone, to }) => {
      const rows = (table: "message_stats" | "message_stat_entries") =>
        sql`select hour, channel, outcome, reason, count from ${sql(table)} where account_id = ${accountId}
          and hour >= date_trunc('hour', to_timestamp(${from}::float8 / 1000))
          and hour < to_timestamp(${to}::float8 / 1000)`
      return sql`select date_trunc(${granularity}, hour, ${timezone}) as at, channel, outcome, reason,
          sum(count)::bigint as count
        from (${rows("message_stats")} union all ${rows("message_stat_entries")}) as counted
        where ${channel === null ? sql`true` : sql`channel = ${channel}`}
        group by 1, 2, 3, 4 order by 1, 2, 3, 4`
    }
  })

  const roll = Query.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ moved: Schema.Int }),
    // Rows of deleted accounts go without a trace. Groups in a fixed order cannot deadlock.
    execute: () =>
      sql`with moved as (
          delete from message_stat_entries where ctid = any (array(
            select ctid from message_stat_entries limit 20000 for update skip locked))
          returning account_id, hour, channel, outcome, reason, count
        ), added as (
          insert into message_stats as s (account_id, hour, channel, outcome, reason, count)
          select m.account_id, m.hour, m.channel, m.outcome, m.reason, sum(m.count)
          from moved m join accounts a on a.id = m.account_id
          group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
          on conflict (account_id, hour, channel, outcome, reason) do update set count = s.count + excluded.count
        )
        select count(*) as moved from moved`
  })

  return { read, roll }
})

/** Numbers of messages by hour or day. No message is read for them. */
export class Statistics extends Context.Service<Statistics, {
  /** Oldest first. Times without messages have no row. */
  readonly read: (
    accountId: AccountId,
    asked: AskedStatistics
  ) => Effect.Effect<ReadonlyArray<StatisticsRow>, ValidationFailed>
  /** Moves the counts that writers have added to the rows of their hour. */
  readonly roll: Effect.Effect<void>
}>()("messaging-service/overview/Statistics") {
  static readonly layer = Layer.effect(
    Statistics,
    Effect.gen(function*() {
      const repo = yield* make
      return Statistics.of({
        read: Effect.fn("Statistics.read")(function*(accountId, asked) {
          const { channel = null, granularity, timezone } = asked
          const period = yield* askedPeriod(asked, spans[granularity])
          return yield* repo.read({ accountId, ...period, granularity, timezone, channel })
        }),
        roll: Effect.repeat(repo.roll(), { until: ({ moved }) => moved < 20_000 }).pipe(Effect.asVoid)
      })
    })
  )
}
