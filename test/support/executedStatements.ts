/**
 * The statements that nodes execute in a test run, recorded by PostgreSQL's pg_stat_statements. Tests connect
 * as another user, so what they read and write themselves is not recorded.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The PostgreSQL user of nodes. */
export const serviceUser = "service"

/** Each of the many databases of a run has its own entry of a statement. */
export const recording = {
  shared_preload_libraries: "pg_stat_statements",
  "pg_stat_statements.max": "200000",
  "pg_stat_statements.track": "none",
  "pg_stat_statements.track_utility": "off",
  "pg_stat_statements.save": "off"
}

export const startRecording = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create extension pg_stat_statements`
  yield* sql`create role ${sql(serviceUser)} superuser login`
  yield* sql`alter role ${sql(serviceUser)} set pg_stat_statements.track = 'top'`
})

export const executedStatements = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`select distinct query from pg_stat_statements s join pg_roles r on r.oid = s.userid
    where r.rolname = ${serviceUser}`
  return rows.map(({ query }) => String(query))
})
