/**
 * Events, ended deliveries, attempts, the log of requests and large bodies of mail are stored in daily partitions (UTC) and
 * dropped a partition at a time. The database's clock decides the day. A missing partition makes every insert of its day
 * fail, so each start creates those of tomorrow, and a periodic task those of the next 14 days.
 */
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { RetentionClock } from "./RetentionClock.ts"

/** The tables with daily partitions. */
export type PartitionedTable = "events" | "webhook_deliveries" | "email_bodies" | "message_attempts" | "request_log"

/**
 * Creates the missing partitions from yesterday to some days ahead. Safe to run on several nodes during writes. Yesterday
 * is included because an event's id carries the time of its node, whose clock may be late.
 */
export const createPartitions = Effect.fn("Partitions.createPartitions")(function*(daysAhead: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`select make_day_partitions(today - 1, today + ${daysAhead}::integer)
    from (values ((now() at time zone 'UTC')::date)) as t (today)`
})

/** Most partitions of a table that one call drops, so that a wrong clock or setting does not delete all history. */
const mostDropped = 2

/**
 * Drops the partitions of a table that ended at least `days` days ago by the retention clock, the oldest first and each
 * in its own transaction, at most two, and returns their names. If the table stays locked for too long, it fails and
 * leaves the rest for the next run.
 */
export const dropPartitions = Effect.fn("Partitions.dropPartitions")(function*(table: PartitionedTable, days: number) {
  const sql = yield* SqlClient.SqlClient
  const dropOldest = SqlSchema.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ name: Schema.NullOr(Schema.String) }),
    execute: () =>
      sql`select drop_oldest_day_partition(${table}::text::regclass,
        (${RetentionClock.now(sql)} at time zone 'UTC')::date - ${days}::integer) as name`
  })
  const dropped: Array<string> = []
  while (dropped.length < mostDropped) {
    const { name } = yield* dropOldest()
    if (name === null) break
    dropped.push(name)
  }
  return dropped
})
