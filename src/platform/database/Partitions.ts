/**
 * Events and ended deliveries are kept in partitions by day (UTC), which are dropped whole when their time is over. What
 * day it is says the database. A partition that is missing makes every insert of its day fail, so they are made 14 days
 * ahead, by every start and by a periodic task.
 */
import { Effect, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"

/** What is kept in partitions by day. */
export type PartitionedTable = "events" | "webhook_deliveries"

/**
 * Makes the partitions that are missing between yesterday and 14 days ahead; any number of nodes at once, while others
 * write. Yesterday's is among them because the ids of events carry the time of their node, whose clock may be late.
 */
export const makePartitions = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`select make_day_partitions(today - 1, today + 14) from (values ((now() at time zone 'UTC')::date)) as t (today)`
})

/**
 * Drops the partitions of a table that ended at least `days` days ago, the oldest first and each in a transaction of its
 * own; returns their names. Where somebody holds the table for too long it fails and keeps the rest for the next time.
 */
export const dropPartitions = Effect.fn("Partitions.dropPartitions")(function*(table: PartitionedTable, days: number) {
  const sql = yield* SqlClient.SqlClient
  const dropOldest = SqlSchema.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ name: Schema.NullOr(Schema.String) }),
    execute: () =>
      sql`select drop_oldest_day_partition(${table}::text::regclass,
        (now() at time zone 'UTC')::date - ${days}::integer) as name`
  })
  const dropped: Array<string> = []
  while (true) {
    const { name } = yield* dropOldest()
    if (name === null) return dropped
    dropped.push(name)
  }
})
