import { type Duration, Schedule } from "effect"
import { delaysOf } from "../../platform/schedule/delaysOf.ts"

/**
 * When a failed delivery is tried again (spec 6.6): after 5 seconds, then 30 seconds, then 2 minutes, each counted
 * from the end of the attempt before, without jitter; then it is given up.
 */
export const RetryPolicy = Schedule.duration("5 seconds").pipe(
  Schedule.concat(Schedule.duration("30 seconds")),
  Schedule.concat(Schedule.duration("2 minutes"))
)

const delays = delaysOf(RetryPolicy)

/** The first attempt and one for each delay: 4. */
export const maxAttempts: number = delays.length + 1

/** How long to wait after failed attempt `attempt` (1 is the first); undefined when it was the last one. */
export const nextDelay = (attempt: number): Duration.Duration | undefined => delays[attempt - 1]
