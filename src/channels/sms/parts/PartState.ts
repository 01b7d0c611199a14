import { Duration } from "effect"
import type { SubmitOutcome } from "./SubmitOutcome.ts"
import { nextDelay } from "./SubmitRetryPolicy.ts"

/** What a part's row counts, before an attempt. */
export interface Tried {
  readonly attempt_count: number
  /** Times that it may have been submitted without an answer. */
  readonly doubts: number
  /** How long ago its message was accepted. */
  readonly ageMillis: number
}

/** What an outcome makes of a part's row. */
export interface Settled {
  readonly status: "queued" | "sent" | "failed"
  readonly attempt_count: number
  readonly doubts: number
  /** When a queued part is due again. */
  readonly delay: Duration.Duration | undefined
  readonly provider_message_id: string | null
  readonly error_code: string | null
  readonly error_message: string | null
}

/** A part that could not be handed over for this long is given up: the news in it are old. */
const validity = Duration.toMillis(Duration.hours(24))

/** Of a part whose fate no second submit has settled. */
export const unanswered = {
  error_code: "outcome_unknown",
  error_message: "The provider did not say whether it has the message, and not when it was sent again either."
} as const

const again = (tried: Tried, millis: number, error: Pick<Settled, "error_code" | "error_message">): Settled => ({
  ...error,
  status: "queued",
  attempt_count: tried.attempt_count,
  doubts: tried.doubts,
  delay: Duration.millis(millis),
  provider_message_id: null
})

const failed = (tried: Tried, error_code: string, error_message: string): Settled => ({
  status: "failed",
  attempt_count: tried.attempt_count + 1,
  doubts: tried.doubts,
  delay: undefined,
  provider_message_id: null,
  error_code,
  error_message
})

/**
 * A part after an attempt. Total. A provider that is away or asks for patience costs no attempt, only time. A submit
 * without an answer is repeated once: the recipient may get it twice, which is better than never, but not three times.
 */
export const settle = (tried: Tried, outcome: SubmitOutcome): Settled => {
  switch (outcome._tag) {
    case "Accepted":
      return {
        status: "sent",
        attempt_count: tried.attempt_count + 1,
        doubts: tried.doubts,
        delay: undefined,
        provider_message_id: outcome.id,
        error_code: null,
        error_message: null
      }
    case "Refused":
      return failed(tried, outcome.code, outcome.reason)
    case "PutOff": {
      const delay = nextDelay(tried.attempt_count + 1)
      if (delay === undefined) return failed(tried, outcome.code, outcome.reason)
      const counted = { ...tried, attempt_count: tried.attempt_count + 1 }
      return again(counted, Duration.toMillis(delay), { error_code: outcome.code, error_message: outcome.reason })
    }
    case "NotTaken":
      return tried.ageMillis >= validity
        ? failed(tried, "expired", `The provider could not be reached for a day: ${outcome.reason}`)
        : again(tried, Math.max(1, outcome.retryInMillis), { error_code: null, error_message: outcome.reason })
    case "Unanswered":
      return tried.doubts > 0
        ? failed({ ...tried, doubts: tried.doubts + 1 }, unanswered.error_code, unanswered.error_message)
        : again({ ...tried, doubts: 1 }, 1, { error_code: null, error_message: outcome.reason })
  }
}
