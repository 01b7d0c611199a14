import { type Clock, Duration } from "effect"

/** Whether a lease has expired by now. */
export type HasExpired = () => boolean

/**
 * Starts a lease. It goes by two clocks, and expires with the first: a wall clock that is set back does not lengthen it.
 * The monotonic clock goes on while a process is stopped, but Linux stops it while the machine is suspended, and then the
 * wall clock is ahead.
 */
export const expiryIn = (clock: Clock.Clock, leaseTime: Duration.Duration): HasExpired => {
  const monotonic = clock.monotonicTimeNanosUnsafe() + BigInt(Duration.toMillis(leaseTime)) * 1_000_000n
  const wall = clock.currentTimeMillisUnsafe() + Duration.toMillis(leaseTime)
  return () => clock.monotonicTimeNanosUnsafe() >= monotonic || clock.currentTimeMillisUnsafe() >= wall
}
