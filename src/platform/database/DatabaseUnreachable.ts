import { Cause, Schema } from "effect"
import type { SqlError } from "effect/sql"
import { isDatabaseUnavailable } from "./unavailable.ts"

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
    return new DatabaseUnreachable({ reason, isTemporary: isDatabaseUnavailable(Cause.fail(error)) })
  }
}
