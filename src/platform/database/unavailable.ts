import { Cause, Effect, Option, Schedule } from "effect"
import { SqlError } from "effect/sql"

/**
 * Classes of SQLSTATEs that blame the statement or its data: it fails again, whatever the state of the server. P0 is a
 * function or a trigger of ours that refuses.
 */
const faultClasses = new Set(["21", "22", "23", "42", "44", "P0"])

/**
 * Classes that blame the server: no connection, read-only after a failover, out of disk, memory or connections, shut down,
 * or an error of its disk.
 */
const outageClasses = new Set(["08", "25", "53", "57", "58"])

/** Members of these classes that concern one statement or one transaction: a timeout, or a limit of temporary files. */
const singleStatements = new Set(["57014", "53400", "25P02", "25P03"])

/** The SQLSTATE of a failure, "" if it did not come from the server. */
export const stateOf = ({ reason: { cause } }: SqlError.SqlError): string =>
  typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : ""

const isLostConnection = ({ reason }: SqlError.SqlError) => reason._tag === "ConnectionError"

/** A state of five characters. A system call has a code as well, such as ENOENT. */
const isState = (state: string) => /^[0-9A-Z]{5}$/.test(state)

const isPassing = (error: SqlError.SqlError) => {
  const state = stateOf(error)
  return isLostConnection(error) || (isState(state) && !faultClasses.has(state.slice(0, 2)))
}

const isOutage = (error: SqlError.SqlError) => {
  const state = stateOf(error)
  return isLostConnection(error) || (outageClasses.has(state.slice(0, 2)) && !singleStatements.has(state))
}

const sqlErrors = (cause: Cause.Cause<unknown>): ReadonlyArray<SqlError.SqlError> =>
  cause.reasons.flatMap((reason) => {
    const failure = Cause.isDieReason(reason) ? reason.defect : Cause.isFailReason(reason) ? reason.error : undefined
    return SqlError.isSqlError(failure) ? [failure] : []
  })

/**
 * Whether an effect failed or died because the database said no for now: every failure of a statement but a fault of the
 * statement or its data. The same effect may succeed later.
 */
export const isDatabaseUnavailable = (cause: Cause.Cause<unknown>): boolean => sqlErrors(cause).some(isPassing)

/** The failure, if the whole server cannot be used: it is gone, takes no writes, or lacks a resource. */
export const outageIn = (cause: Cause.Cause<unknown>): Option.Option<SqlError.SqlError> =>
  Option.fromUndefinedOr(sqlErrors(cause).find(isOutage))

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

/**
 * Logs a failure of work that is tried again. The node logs an outage once, for all of its work; a statement that times
 * out or loses its lock is a warning, because it may do so for ever.
 */
export const logRetry = (message: string, cause: Cause.Cause<unknown>): Effect.Effect<void> =>
  Option.isSome(outageIn(cause))
    ? Effect.logDebug(message, cause)
    : isDatabaseUnavailable(cause)
    ? Effect.logWarning(message, cause)
    : Effect.logError(message, cause)
