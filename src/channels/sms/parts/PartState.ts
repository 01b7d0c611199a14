import { Duration, Schema } from "effect"
import type { SubmitOutcome } from "./SmsProvider.ts"
import { nextDelay } from "./SubmitRetryPolicy.ts"

/** The status of a message. */
export const SmsStatus = Schema.Literals(["scheduled", "queued", "sent", "delivered", "failed", "canceled"])
export type SmsStatus = typeof SmsStatus.Type

/** How many parts a message has, and how many of them have each status. `sent` includes the delivered ones. */
export interface PartCounts {
  readonly parts: number
  readonly sent: number
  readonly delivered: number
  readonly failed: number
}

/** The next status of a message. */
export interface Advance {
  readonly status: "sent" | "delivered" | "failed"
  /** `message.sent` was not published yet, and is published first. */
  readonly impliesSent: boolean
  /** It counted as queued in its batch, and now counts as sent or failed. */
  readonly leavesQueue: boolean
}

/**
 * The next status of a message whose parts have changed; undefined when it keeps its status. A message is sent or
 * delivered when all its parts are, and failed when one is: no handset shows the rest. `delivered` and `failed` are final.
 */
export const advance = (status: SmsStatus, { delivered, failed, parts, sent }: PartCounts): Advance | undefined => {
  if (status === "delivered" || status === "failed" || status === "canceled") return undefined
  const queued = status === "queued" || status === "scheduled"
  if (failed > 0) return { status: "failed", impliesSent: false, leavesQueue: queued }
  if (delivered >= parts) return { status: "delivered", impliesSent: queued, leavesQueue: queued }
  return queued && sent >= parts ? { status: "sent", impliesSent: false, leavesQueue: true } : undefined
}

/** A part's row before an attempt. */
export interface PartProgress {
  readonly attempt_count: number
  /** How many submits ended without an answer. */
  readonly unconfirmed_attempts: number
  /** How long ago its message was accepted; of a scheduled message, how long ago its time was. */
  readonly ageMillis: number
}

/** A part's row after an attempt. */
export interface PartTransition {
  readonly status: "queued" | "sent" | "failed"
  readonly attempt_count: number
  readonly unconfirmed_attempts: number
  /** When a queued part is due again. */
  readonly delay: Duration.Duration | undefined
  readonly provider_message_id: string | null
  readonly error_code: string | null
  readonly error_message: string | null
}

/** A part that the provider does not accept for this long fails, because its message is out of date. */
const maxAge = Duration.toMillis(Duration.hours(24))

/** Whether a part of this age is not submitted any more, for example because there was no node or no bind for a day. */
export const isOutOfDate = (ageMillis: number): boolean => ageMillis >= maxAge

/** The outcome of a part that is out of date. */
export const outOfDate = {
  _tag: "Refused",
  code: "expired",
  reason: "No provider accepted the message for a day."
} as const satisfies SubmitOutcome

/** The error of a part with two unconfirmed attempts. */
export const unconfirmed = {
  error_code: "outcome_unknown",
  error_message: "The provider did not confirm the message, and not when it was sent again either."
} as const

const requeued = (
  { attempt_count, unconfirmed_attempts }: PartProgress,
  millis: number,
  error: Pick<PartTransition, "error_code" | "error_message">
): PartTransition => ({
  ...error,
  status: "queued",
  attempt_count,
  unconfirmed_attempts,
  delay: Duration.millis(millis),
  provider_message_id: null
})

const failed = (
  { attempt_count, unconfirmed_attempts }: PartProgress,
  error_code: string,
  error_message: string
): PartTransition => ({
  status: "failed",
  attempt_count: attempt_count + 1,
  unconfirmed_attempts,
  delay: undefined,
  provider_message_id: null,
  error_code,
  error_message
})

/**
 * A part after an attempt. It is total. An unavailable provider costs time, but no attempt. An unconfirmed submit is
 * repeated once: the recipient may get the part twice, which is better than never, but not three times.
 */
export const transition = (part: PartProgress, outcome: SubmitOutcome): PartTransition => {
  switch (outcome._tag) {
    case "Accepted":
      return {
        status: "sent",
        attempt_count: part.attempt_count + 1,
        unconfirmed_attempts: part.unconfirmed_attempts,
        delay: undefined,
        provider_message_id: outcome.id,
        error_code: null,
        error_message: null
      }
    case "Refused":
      return failed(part, outcome.code, outcome.reason)
    case "Deferred": {
      const delay = nextDelay(part.attempt_count + 1)
      if (delay === undefined) return failed(part, outcome.code, outcome.reason)
      const counted = { ...part, attempt_count: part.attempt_count + 1 }
      return requeued(counted, Duration.toMillis(delay), { error_code: outcome.code, error_message: outcome.reason })
    }
    case "Unavailable":
      return isOutOfDate(part.ageMillis)
        ? failed(part, outOfDate.code, `The provider could not be reached for a day: ${outcome.reason}`)
        : requeued(part, Math.max(1, outcome.retryInMillis), { error_code: null, error_message: outcome.reason })
    case "Unconfirmed": {
      const counted = { ...part, unconfirmed_attempts: part.unconfirmed_attempts + 1 }
      return part.unconfirmed_attempts > 0
        ? failed(counted, unconfirmed.error_code, unconfirmed.error_message)
        : requeued(counted, 1, { error_code: null, error_message: outcome.reason })
    }
  }
}
