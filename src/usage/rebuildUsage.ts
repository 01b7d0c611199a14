import { Effect, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { Database } from "../platform/database/Database.ts"
import * as Query from "../platform/database/Query.ts"
import { messageCounts } from "./messageCounts.ts"

/**
 * Recounts usage of all accounts from the stored messages and codes, replaces the counts, and returns the number of
 * rows. Counts stay of days whose messages are partly deleted, and of codes, which are stored for two days. Nodes may
 * keep running: their counts wait for this transaction and are then added.
 */
export const rebuildUsage = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { transaction } = yield* Database
  const yesterday = sql.literal(`(now() at time zone 'UTC')::date - 1`)
  /** Emails count as sent on the day of the relay's answer, which may be the day after that of their record. */
  const isCounted = (row: Statement.Fragment) =>
    sql`case ${row}.metric when 'otp' then ${row}.day >= ${yesterday} when 'email_sent' then ${row}.day > a.messages_since
      else ${row}.metric in ('email', 'sms', 'sms_segments', 'whatsapp') and ${row}.day >= a.messages_since end`
  const rebuild = Query.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ rows: Schema.Int }),
    execute: () =>
      sql`with counted as (
          ${messageCounts(sql, () => sql`true`)}
          union all
          select account_id, (created_at at time zone 'UTC')::date as day, 'otp', count(*), 0
          from verification_sends where (created_at at time zone 'UTC')::date >= ${yesterday} group by 1, 2
        ), written as (
          insert into usage_daily (account_id, day, metric, slot, count, cost_micros)
          select c.account_id, c.day, c.metric, 0, c.count, c.cost from counted c join accounts a on a.id = c.account_id
          where ${isCounted(sql`c`)}
          returning 1
        )
        select count(*) as rows from written`
  })
  return yield* transaction(Effect.gen(function*() {
    yield* Query.run(sql`lock table usage_daily in exclusive mode`)
    yield* Query.run(
      sql`delete from usage_daily u using accounts a where a.id = u.account_id and ${isCounted(sql`u`)}`
    )
    return (yield* rebuild()).rows
  }))
}).pipe(Effect.withSpan("rebuildUsage"))
