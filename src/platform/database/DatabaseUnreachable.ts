import { Cause, Schema } from "effect"
import type { SqlError } from "effect/sql"
import { isDatabaseUnavailable } from "./isDatabaseUnavailable.ts"

/** The operator's server does not answer, or refuses us. */
export class DatabaseUnreachable extends Schema.TaggedError<DatabaseUnreachable>()("DatabaseUnreachable", {
  /** The client's own words for what went wrong. */
  reason: Schema.String,
  /** Whether the same may succeed in a moment: the server is starting, or being replaced. */
  isAway: Schema.Boolean
}) {
  override get message() {
    return `PostgreSQL cannot be used: ${this.reason}. Check DATABASE_URL, or unset it to use the embedded database.`
  }

  static from(error: SqlError.SqlError) {
    const { cause, message } = error.reason
    const reason = (cause instanceof Error ? cause.message : message).replace(/^PgConnection: /, "")
    return new DatabaseUnreachable({ reason, isAway: isDatabaseUnavailable(Cause.fail(error)) })
  }
}
