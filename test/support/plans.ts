import { Effect, Schema } from "effect"
import { SqlClient, Statement } from "effect/sql"

const decodePlan = Schema.decodeUnknownSync(Schema.Array(Schema.Struct({ "QUERY PLAN": Schema.String })))

/** The executed plans of the statements on a table that an effect runs. */
export const plansOf = Effect.fnUntraced(function*<A, E, R>(
  effect: Effect.Effect<A, E, R>,
  table = "webhook_deliveries"
) {
  const sql = yield* SqlClient.SqlClient
  const statements: Array<readonly [string, ReadonlyArray<unknown>]> = []
  yield* effect.pipe(Effect.provideService(Statement.CurrentTransformer, (statement) =>
    Effect.sync(() => {
      statements.push(statement.compile())
      return statement
    })))
  const onTable = statements.filter(([text]) => text.includes(table))
  return yield* Effect.forEach(onTable, ([text, parameters]) =>
    Effect.map(
      sql.unsafe(`explain (analyze, timing off) ${text}`, parameters).unprepared,
      (rows) => decodePlan(rows).map((row) => row["QUERY PLAN"]).join("\n")
    ))
})

/** How many rows the scans of a plan read, including those that a filter removed. */
export const rowsRead = (plan: string) =>
  [...plan.matchAll(/ Scan [^"\n]*actual rows=(\d+)|Rows Removed by Filter: (\d+)/g)]
    .reduce((sum, [, given = "0", removed = "0"]) => sum + Number(given) + Number(removed), 0)
