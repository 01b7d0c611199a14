import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The statements in the test's database that wait for a lock. */
export const lockWaits = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.andThen(
    // A transaction sees the processes of its first look until then.
    sql`select pg_stat_clear_snapshot()`,
    sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
  ))
