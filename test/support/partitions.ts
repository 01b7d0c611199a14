import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { dropPartitions } from "../../src/platform/database/Partitions.ts"

/**
 * Drops all partitions by day and makes those between two days, counted from today, which is 0. The migration makes one
 * that takes all that is older than its own day, so no day before that can be made while it is there.
 */
export const remakePartitions = Effect.fnUntraced(function*(first: number, last: number) {
  const sql = yield* SqlClient.SqlClient
  yield* dropPartitions("events", -100)
  yield* dropPartitions("webhook_deliveries", -100)
  yield* sql`select make_day_partitions(today + ${first}::integer, today + ${last}::integer)
    from (values ((now() at time zone 'UTC')::date)) as t (today)`
})
