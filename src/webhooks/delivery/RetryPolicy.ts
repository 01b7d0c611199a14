import { type Duration, Schedule } from "effect"
import { delaysOf } from "../../platform/schedule/delaysOf.ts"

/**
 * When a failed delivery is retried (spec 6.6): after 5 seconds, 30 seconds and 2 minutes, without jitter. Each delay
 * starts at the end of the attempt before. Then the delivery has failed.
 */
export const RetryPolicy = Schedule.duration("5 seconds").pipe(
  Schedule.concat(Schedule.duration("30 seconds")),
  Schedule.concat(Schedule.duration("2 minutes"))
)

const delays = delaysOf(RetryPolicy)

/** The first attempt and one retry for each delay: 4. */
export const maxAttempts: number = delays.length + 1

/** The delay after failed attempt `attempt` (1 is the first); undefined after the last one. */
export const nextDelay = (attempt: number): Duration.Duration | undefined => delays[attempt - 1]
