import { Context, Effect, Option } from "effect"
import { SqlClient, type SqlError } from "effect/sql"

/** The rows of a prepared statement for these values of `$1`, `$2` and so on. */
export type Rows = (
  statement: string,
  values: ReadonlyArray<unknown>
) => Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>

/**
 * Reads of a few rows by an index, of which most requests make one or two. Statements of different requests share a
 * connection and travel together, so that many cost one system call. They wait for no request that has a connection; a slow
 * statement here would hold up all others. A request in a transaction reads on its own connection, and sees its changes.
 */
export class QuickReads extends Context.Service<QuickReads, { readonly rows: Rows }>()(
  "messaging-service/platform/database/QuickReads"
) {
  /** On the client in the context, for programs without requests. */
  static readonly orClient = Effect.gen(function*() {
    const quick = yield* Effect.serviceOption(QuickReads)
    if (Option.isSome(quick)) return quick.value
    const sql = yield* SqlClient.SqlClient
    return QuickReads.of({ rows: (statement, values) => sql.unsafe(statement, values) })
  })
}
