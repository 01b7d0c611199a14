import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/**
 * The statements of a table, made once for all who use the same client: they keep nothing, and their schemas take tens of
 * kilobytes, which a thousand actors would otherwise have each for itself.
 */
export const repository = <A>(
  make: Effect.Effect<A, never, SqlClient.SqlClient>
): Effect.Effect<A, never, SqlClient.SqlClient> => {
  const made = new WeakMap<SqlClient.SqlClient, A>()
  return Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const before = made.get(sql)
    if (before !== undefined) return before
    const statements = yield* make
    made.set(sql, statements)
    return statements
  })
}
