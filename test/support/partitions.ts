import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { dropPartitions } from "../../src/platform/database/Partitions.ts"

/**
 * Drops all day partitions and creates those between two days relative to today, which is 0. The migration's partition
 * covers everything before its day, so no earlier day can be created while it exists.
 */
export const recreatePartitions = Effect.fnUntraced(function*(first: number, last: number) {
  const sql = yield* SqlClient.SqlClient
  for (const table of ["events", "webhook_deliveries"] as const) {
    yield* Effect.repeat(dropPartitions(table, -100), { while: (dropped) => dropped.length > 0 })
  }
  yield* sql`select make_day_partitions(today + ${first}::integer, today + ${last}::integer)
    from (values ((now() at time zone 'UTC')::date)) as t (today)`
})
