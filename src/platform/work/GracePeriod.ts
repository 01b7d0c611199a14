import { Clock, Duration, Effect } from "effect"
import { isDatabaseUnavailable } from "../database/unavailable.ts"
import { millisOf } from "../schedule/monotonic.ts"
import { leaseTimeout } from "./Claims.ts"

/**
 * The time after an outage of the database in which this node reclaims nothing. The outage has ended the leases of all nodes.
 * Those that work store their outcomes and renew their leases first, so only the rows of dead nodes are reclaimed.
 */
export interface GracePeriod {
  /** Starts the period again whenever the work finds the database unavailable. Some watched work must run each second. */
  readonly watch: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  readonly isOver: () => boolean
}

const make: Effect.Effect<GracePeriod> = Effect.map(Clock.Clock, (clock) => {
  let outageAt = -Infinity
  return {
    watch: Effect.tapCause((cause) =>
      Effect.sync(() => {
        if (isDatabaseUnavailable(cause)) outageAt = millisOf(clock)
      })
    ),
    isOver: () => millisOf(clock) - outageAt >= Duration.toMillis(leaseTimeout)
  }
})

export const GracePeriod = { make }
