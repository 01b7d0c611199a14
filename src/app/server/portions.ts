import { Effect, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import * as Query from "../../platform/database/Query.ts"

/** Most rows that one statement changes, so that it locks few rows and ends soon. */
export const portionSize = 5_000

/** A part of pruning that is repeated until it finds no more rows. */
export interface Step {
  readonly table: string
  /** Handles some rows and returns how many. Fewer than {@link portionSize} means that none are left. */
  readonly portion: Effect.Effect<number>
}

/** Counts the rows in the database, because thousands of empty rows are slow to read. */
const counting = (sql: SqlClient.SqlClient, statement: Statement.Fragment) =>
  Effect.suspend(() =>
    Query.findOne({
      Request: Schema.Void,
      Result: Schema.Struct({ count: Schema.Int }),
      execute: () => sql`with changed as (${statement} returning 1) select count(*) as count from changed`
    })()
  ).pipe(Effect.map(({ count }) => count))

/** Rows that a request or an actor holds stay for the next round. */
export const portions = (sql: SqlClient.SqlClient) => {
  const some = (table: string, which: Statement.Fragment) =>
    sql`ctid = any(array(select ctid from ${sql(table)} where ${which} limit ${portionSize} for update skip locked))`
  return {
    deletes: (table: string, which: Statement.Fragment): Step => ({
      table,
      portion: counting(sql, sql`delete from ${sql(table)} where ${some(table, which)}`)
    }),
    /** `change` must make `which` untrue. */
    clears: (table: string, change: Statement.Fragment, which: Statement.Fragment): Step => ({
      table,
      portion: counting(sql, sql`update ${sql(table)} set ${change} where ${some(table, which)}`)
    })
  }
}
