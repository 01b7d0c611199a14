import { type Duration, Schedule } from "effect"
import { delaysOf } from "../../../platform/schedule/delaysOf.ts"

/** The back-off of a message that could not be prepared: four retries within half a minute, then it fails. */
export const PrepareRetryPolicy = Schedule.exponential("2 seconds").pipe(Schedule.upTo({ times: 4 }))

const delays = delaysOf(PrepareRetryPolicy)

/** The first attempt to prepare a message and its retries. */
export const maxPrepareAttempts: number = delays.length + 1

/** The pause after failed attempt `attempt` (1 is the first); undefined after the last one. */
export const nextPrepareDelay = (attempt: number): Duration.Duration | undefined => delays[attempt - 1]
