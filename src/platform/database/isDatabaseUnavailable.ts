import { Cause } from "effect"
import { SqlError } from "effect/sql"

/**
 * SQLSTATEs of a server that stops, starts or has no room (shutdown, crash, cannot connect now, too many clients), and
 * of a transaction that lost against another one (deadlock, serialization): the same again may well succeed.
 */
const passing = new Set([
  "57P01",
  "57P02",
  "57P03",
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

const isAway = (failure: unknown): boolean =>
  SqlError.isSqlError(failure) &&
  (failure.reason._tag === "ConnectionError" || passing.has(String(codeOf(failure.reason.cause))))

/** Whether something failed because of the state of the database for now, rather than because of what was asked. */
export const isDatabaseUnavailable = (cause: Cause.Cause<unknown>): boolean =>
  cause.reasons.some((reason) =>
    Cause.isDieReason(reason) ? isAway(reason.defect) : Cause.isFailReason(reason) && isAway(reason.error)
  )
