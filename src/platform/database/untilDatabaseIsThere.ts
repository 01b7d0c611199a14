import { Cause, Duration, Effect, Schedule, Schema } from "effect"
import { SqlError } from "effect/sql"
import { AppConfig } from "../config/AppConfig.ts"
import { DatabaseUnreachable } from "./DatabaseUnreachable.ts"

const isUnreachable = Schema.is(DatabaseUnreachable)

/** That the database is away, when that is why something failed. */
const awayIn = (cause: Cause.Cause<unknown>): DatabaseUnreachable | undefined => {
  const failure = Cause.squash(cause)
  const found = SqlError.isSqlError(failure) ? DatabaseUnreachable.from(failure) : failure
  return isUnreachable(found) && found.isAway ? found : undefined
}

/**
 * For a start: while the database does not answer it is begun again, every half second for `DATABASE_WAIT_SECONDS`, and
 * then fails with `DatabaseUnreachable`. A database that refuses us (password, name) is not waited for.
 */
export const untilDatabaseIsThere = <A, E, R>(start: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const { databaseWaitSeconds: seconds } = yield* AppConfig
    const attempt = Effect.catchCause(start, (cause): Effect.Effect<never, E | DatabaseUnreachable> => {
      const away = awayIn(cause)
      return away === undefined ? Effect.failCause(cause) : Effect.fail(away)
    })
    const isAway = (error: E | DatabaseUnreachable) => seconds > 0 && isUnreachable(error) && error.isAway
    const patience = Schedule.spaced("500 millis").pipe(Schedule.upTo({ duration: Duration.seconds(seconds) }))
    return yield* Effect.catchIf(attempt, isAway, () =>
      Effect.logWarning(`PostgreSQL does not answer yet. Trying again for ${seconds} seconds.`).pipe(
        Effect.andThen(Effect.retry(attempt, { while: isAway, schedule: patience }))
      ))
  })
