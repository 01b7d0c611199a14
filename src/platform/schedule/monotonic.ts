import { Clock, Duration, Effect } from "effect"

/** {@link millisOf} with its fraction, for work that takes less than a millisecond. */
export const exactMillisOf = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / 1_000_000

/**
 * Whole milliseconds of a clock that is never set, for times that stay in memory. A wait that goes by the wall clock would
 * grow by as much as that clock is set back. Times in rows are of the database's clock.
 */
export const millisOf = (clock: Clock.Clock): number => Math.floor(exactMillisOf(clock))

/** The same as an effect. */
export const monotonicMillis = Effect.map(Clock.Clock, millisOf)

/** Whether a lease has expired by now. */
export type HasExpired = () => boolean

/**
 * Starts a lease. It goes by two clocks, and expires with the first: a wall clock that is set back does not lengthen it.
 * The monotonic clock goes on while a process is stopped, but Linux stops it while the machine is suspended, and then the
 * wall clock is ahead.
 */
export const expiryIn = (clock: Clock.Clock, leaseTime: Duration.Duration): HasExpired => {
  const monotonic = millisOf(clock) + Duration.toMillis(leaseTime)
  const wall = clock.currentTimeMillisUnsafe() + Duration.toMillis(leaseTime)
  return () => millisOf(clock) >= monotonic || clock.currentTimeMillisUnsafe() >= wall
}
