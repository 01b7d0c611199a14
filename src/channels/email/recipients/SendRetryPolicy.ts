import { type Duration, Schedule } from "effect"
import { delaysOf } from "../../../platform/schedule/delaysOf.ts"

/** The back-off of a message that the relay deferred (4xx): seven retries within about eight hours. */
export const SendRetryPolicy = Schedule.duration("30 seconds").pipe(
  Schedule.concat(Schedule.duration("2 minutes")),
  Schedule.concat(Schedule.duration("10 minutes")),
  Schedule.concat(Schedule.duration("30 minutes")),
  Schedule.concat(Schedule.duration("1 hour")),
  Schedule.concat(Schedule.duration("2 hours")),
  Schedule.concat(Schedule.duration("4 hours"))
)

const delays = delaysOf(SendRetryPolicy)

/** The first attempt and one for each delay. */
export const maxAttempts: number = delays.length + 1

/** The delay after failed attempt `attempt` (1 is the first), or undefined after the last one. */
export const nextDelay = (attempt: number): Duration.Duration | undefined => delays[attempt - 1]
