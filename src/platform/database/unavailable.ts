import { Cause, Effect, Schedule } from "effect"
import { SqlError } from "effect/sql"

/**
 * SQLSTATEs after which the same statement may succeed: the server stops, starts, has no free connection or ended a slow
 * statement, or the transaction lost against another one (deadlock, serialization).
 */
const transientStates = new Set([
  "57P01",
  "57P02",
  "57P03",
  "57014",
  "53300",
  "08000",
  "08001",
  "08003",
  "08004",
  "08006",
  "40P01",
  "40001"
])

const codeOf = (cause: unknown): unknown =>
  typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined

const isTransient = (failure: unknown): boolean =>
  SqlError.isSqlError(failure) &&
  (failure.reason._tag === "ConnectionError" || transientStates.has(String(codeOf(failure.reason.cause))))

/** Whether an effect failed or died because of the current state of the database, not because of its input. */
export const isDatabaseUnavailable = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) =>
    Cause.isDieReason(reason) ? isTransient(reason.defect) : Cause.isFailReason(reason) && isTransient(reason.error)
  )

/**
 * Runs an effect again until the database is available. The effect must be safe to run twice. Any other failure passes
 * through.
 */
export const retryWhileUnavailable = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  effect.pipe(
    Effect.sandbox,
    Effect.retry({ while: isDatabaseUnavailable, schedule: Schedule.spaced("500 millis") }),
    Effect.catch(Effect.failCause)
  )
