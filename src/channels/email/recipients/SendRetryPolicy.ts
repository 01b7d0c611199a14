import { type Duration, Schedule } from "effect"
import { delaysOf } from "../../../platform/schedule/delaysOf.ts"

/** When a message that the relay put off (4xx) is offered again: seven times within about eight hours. */
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

/** How long to wait after failed attempt `attempt` (1 is the first); undefined when it was the last one. */
export const nextDelay = (attempt: number): Duration.Duration | undefined => delays[attempt - 1]
