import { type Duration, Schedule } from "effect"
import { delaysOf } from "../../platform/schedule/delaysOf.ts"
import type { RetryPolicyName } from "../endpoint/Webhook.ts"

/**
 * When a failed delivery is retried (spec 6.6): after 5 seconds, 30 seconds and 2 minutes, without jitter. Each delay
 * starts at the end of the attempt before. Then the delivery has failed.
 */
const standard = Schedule.duration("5 seconds").pipe(
  Schedule.concat(Schedule.duration("30 seconds")),
  Schedule.concat(Schedule.duration("2 minutes"))
)

/** The same, and then after 10 minutes, 1, 3, 8 and 16 hours: an endpoint may be away for a day. */
const extended = standard.pipe(
  Schedule.concat(Schedule.duration("10 minutes")),
  Schedule.concat(Schedule.duration("1 hour")),
  Schedule.concat(Schedule.duration("3 hours")),
  Schedule.concat(Schedule.duration("8 hours")),
  Schedule.concat(Schedule.duration("16 hours"))
)

/** The schedule of each retry policy. */
export const retryPolicies = { standard, extended } as const

const delays: Readonly<Record<RetryPolicyName, ReadonlyArray<Duration.Duration>>> = {
  standard: delaysOf(standard),
  extended: delaysOf(extended)
}

/** The first attempt and one retry for each delay: 4, or 9. */
export const maxAttempts = (policy: RetryPolicyName): number => delays[policy].length + 1

/** The delay after failed attempt `attempt` (1 is the first); undefined after the last one. */
export const nextDelay = (policy: RetryPolicyName, attempt: number): Duration.Duration | undefined =>
  delays[policy][attempt - 1]
