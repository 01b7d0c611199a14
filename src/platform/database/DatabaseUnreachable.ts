import { Cause, Schema } from "effect"
import type { SqlError } from "effect/sql"
import { isDatabaseUnavailable, stateOf } from "./unavailable.ts"

/** Classes of SQLSTATEs by which the server refuses the account or the database. A retry changes nothing. */
const refusals = new Set(["28", "3D"])

/** The operator's server does not answer, or refuses the connection. */
export class DatabaseUnreachable extends Schema.TaggedError<DatabaseUnreachable>()("DatabaseUnreachable", {
  /** The client's message. */
  reason: Schema.String,
  /** Whether a retry may succeed soon, because the server starts or is being replaced. */
  isTemporary: Schema.Boolean
}) {
  override get message() {
    return `PostgreSQL cannot be used: ${this.reason}. Check DATABASE_URL, or unset it to use the embedded database.`
  }

  static from(error: SqlError.SqlError) {
    const { cause, message } = error.reason
    const reason = (cause instanceof Error ? cause.message : message).replace(/^PgConnection: /, "")
    const isRefusal = refusals.has(stateOf(error).slice(0, 2))
    const isTemporary = !isRefusal && isDatabaseUnavailable(Cause.fail(error))
    return new DatabaseUnreachable({ reason, isTemporary })
  }
}
