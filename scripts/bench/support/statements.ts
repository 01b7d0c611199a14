import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import type { BenchDatabase } from "./service.ts"

/** Counts the statements that PostgreSQL executes meanwhile, by its log. */
export const countStatements = Effect.fnUntraced(function*<A>(database: BenchDatabase, work: Effect.Effect<A>) {
  const sql = yield* SqlClient.SqlClient
  const log = NodePath.join(database.directory, "db/postgres.log")
  const set = (value: string) =>
    Effect.andThen(sql`alter system set log_statement = ${sql.literal(`'${value}'`)}`, sql`select pg_reload_conf()`)
  yield* sql`alter system set log_parameter_max_length = 0`
  yield* Effect.andThen(set("all"), Effect.sleep("1 second"))
  const from = NodeFs.statSync(log).size
  yield* work
  const logged = NodeFs.readFileSync(log).subarray(from).toString()
  yield* Effect.andThen(set("none"), Effect.sleep("1 second"))
  return logged.match(/LOG: {2}(execute|statement)/g)?.length ?? 0
})
