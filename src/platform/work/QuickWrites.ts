import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { quickConnections } from "../database/Database.ts"
import type { Rows } from "../database/QuickReads.ts"
import { GroupCommit } from "./GroupCommit.ts"

interface Write {
  readonly statement: string
  readonly values: ReadonlyArray<unknown>
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  // A connection is one group's until its commit.
  const connections = yield* quickConnections(1)
  const write = yield* GroupCommit.make({
    // Two groups fit into what the client sends ahead on a connection.
    maxSize: 60,
    concurrency: 2,
    run: (writes: ReadonlyArray<Write>) =>
      connections.use(({ query }) => {
        const inserts = writes.map(({ statement, values }) => query(statement, values))
        const isGroup = inserts.length > 1
        // All are sent before the first answer. After a failure, the commit rolls back.
        return Effect.map(
          Effect.all(isGroup ? [query("begin"), ...inserts, query("commit")] : inserts, { concurrency: "unbounded" }),
          (results) => isGroup ? results.slice(1, -1) : results
        )
      })
  })
  return QuickWrites.of({
    rows: (statement, values) =>
      Effect.flatMap(Effect.serviceOption(sql.transactionService), (transaction) =>
        Option.isSome(transaction)
          ? sql.unsafe(statement, values)
          : Effect.map(write({ statement, values }), ({ rows }) => rows))
  })
})

/**
 * Inserts of one row, which wait for no lock. Those of requests that come at the same time travel together and share a
 * transaction, so that many cost one system call and one commit. An insert that the database refuses fails alone. If one takes
 * longer than a statement may, its whole group fails. A request in a transaction writes on its own connection.
 */
export class QuickWrites extends Context.Service<QuickWrites, { readonly rows: Rows }>()(
  "messaging-service/platform/work/QuickWrites"
) {
  static readonly layer = Layer.effect(QuickWrites, make)

  /** On the client in the context, for programs without requests. */
  static readonly orClient = Effect.gen(function*() {
    const quick = yield* Effect.serviceOption(QuickWrites)
    if (Option.isSome(quick)) return quick.value
    const sql = yield* SqlClient.SqlClient
    return QuickWrites.of({ rows: (statement, values) => sql.unsafe(statement, values) })
  })
}
