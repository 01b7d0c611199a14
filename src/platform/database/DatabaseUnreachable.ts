import { Cause, Schema } from "effect"
import type { SqlError } from "effect/sql"
import { isDatabaseUnavailable, stateOf } from "./unavailable.ts"

/** Classes of SQLSTATEs by which the server refuses the account or the database. A retry changes nothing. */
const refusals = new Set(["28", "3D"])

/** What the operator does about a server that answers and refuses. */
const remedies: ReadonlyMap<string, string> = new Map([
  ["25006", "Let DATABASE_URL lead to a server that takes writes."],
  ["53100", "Free space on the disk of the database, or enlarge it."],
  ["53200", "Give the machine of the database more memory."],
  ["53300", "Raise max_connections of PostgreSQL, or lower DATABASE_CONNECTIONS."]
])

/** The operator's server does not answer, or refuses the connection. */
export class DatabaseUnreachable extends Schema.TaggedError<DatabaseUnreachable>()("DatabaseUnreachable", {
  /** The client's message. */
  reason: Schema.String,
  /** What to do: one sentence. */
  remedy: Schema.String,
  /** Whether a retry may succeed soon, because the server starts or is being replaced. */
  isTemporary: Schema.Boolean
}) {
  override get message() {
    return `PostgreSQL cannot be used: ${this.reason}. ${this.remedy}`
  }

  static from(error: SqlError.SqlError) {
    const { cause, message } = error.reason
    const reason = (cause instanceof Error ? cause.message : message).replace(/^PgConnection: /, "")
    const state = stateOf(error)
    const isRefusal = refusals.has(state.slice(0, 2))
    const isTemporary = !isRefusal && isDatabaseUnavailable(Cause.fail(error))
    const remedy = remedies.get(state) ?? "Check DATABASE_URL, or unset it to use the embedded database."
    return new DatabaseUnreachable({ reason, remedy, isTemporary })
  }
}
