import { Context, Effect, Fiber, Option } from "effect"
import { SqlClient, type SqlError } from "effect/sql"

/** The rows of a prepared statement for these values of `$1`, `$2` and so on. */
export type Rows = (
  statement: string,
  values: ReadonlyArray<unknown>
) => Effect.Effect<ReadonlyArray<object>, SqlError.SqlError>

/** A read, its values by position. */
export interface Read {
  readonly statement: string
  readonly values: ReadonlyArray<unknown>
}

/** The first quick read of a request, and the one that was expected, which may be sent before the request asks for it. */
export interface FirstRead {
  readonly expected: Read | undefined
  /** The rows of the expected read, on their way. */
  sent?: Fiber.Fiber<ReadonlyArray<object>, SqlError.SqlError> | undefined
  asked?: Read
}

/** The {@link FirstRead} of the request. Undefined for work that expects none. */
export const FirstReadOf = Context.Reference<FirstRead | undefined>(
  "messaging-service/platform/database/QuickReads/FirstReadOf",
  { defaultValue: () => undefined }
)

const isSame = (one: Read, other: Read) =>
  one.statement === other.statement && one.values.length === other.values.length &&
  one.values.every((value, index) => value === other.values[index])

/** Notes what a request reads first. Gives the rows of the read that was sent ahead, if it is exactly this one. */
export const rowsSentAhead = (first: FirstRead, read: Read) => {
  const { expected, sent } = first
  if (first.asked !== undefined) return undefined
  first.asked = read
  return sent !== undefined && expected !== undefined && isSame(expected, read) ? Fiber.join(sent) : undefined
}

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
