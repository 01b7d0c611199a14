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
        const [first, ...others] = writes.map(({ statement, values }) => query(statement, values))
        if (first === undefined || others.length === 0) return Effect.all(first === undefined ? [] : [first])
        // All are sent before the first answer. After a failure, the last one rolls back.
        return Effect.map(
          Effect.all([query("begin"), first, ...others, query("commit")], { concurrency: "unbounded" }),
          (results) => results.slice(1, -1)
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
 * transaction, so that many cost one system call and one commit. One that is refused fails alone; all fail with one that takes too long. A request in a transaction
 * writes on its own connection.
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
