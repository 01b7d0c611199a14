import { type Duration, Schedule } from "effect"
import { delaysOf } from "../../../platform/schedule/delaysOf.ts"

/** When a deferred part is submitted again: five times within about an hour, without jitter. */
const SubmitRetryPolicy = Schedule.duration("5 seconds").pipe(
  Schedule.concat(Schedule.duration("30 seconds")),
  Schedule.concat(Schedule.duration("2 minutes")),
  Schedule.concat(Schedule.duration("10 minutes")),
  Schedule.concat(Schedule.duration("45 minutes"))
)

const delays = delaysOf(SubmitRetryPolicy)

/** The delay after failed attempt `attempt` (1 is the first); undefined after the last one. */
export const nextDelay = (attempt: number): Duration.Duration | undefined => delays[attempt - 1]
