import { Duration } from "effect"
import type { DkimSigningFailed } from "../mime/DkimErrors.ts"
import { classifyReply, type Suppress } from "../smtp/classifyReply.ts"
import type { SendFailure } from "../smtp/SmtpErrors.ts"
import { nextDelay } from "./SendRetryPolicy.ts"

/** The message cannot be made at all, by no attempt: a fault of this program, or of a text stored by an older one. */
export interface Unsendable {
  readonly _tag: "Unsendable"
  readonly reason: string
}

/** What one attempt to hand a message over came to. */
export type SendOutcome = { readonly _tag: "Accepted" } | SendFailure | DkimSigningFailed | Unsendable

/** What an outcome makes of a recipient's row. */
export interface Settled {
  readonly status: "queued" | "sent" | "bounced" | "failed"
  readonly attempt_count: number
  /** When a queued recipient is due again. */
  readonly delay: Duration.Duration | undefined
  readonly bounce_type: "hard" | "soft" | null
  readonly error: string | null
  /** Whether anybody in this account shall write to the address again. */
  readonly suppress: Suppress
  /** The relay may have taken the message without saying so. */
  readonly ambiguous: boolean
}

const base = { delay: undefined, bounce_type: null, error: null, suppress: "never", ambiguous: false } as const

/**
 * How many attempts may end without an answer to the final dot: the first and its repetition. One that ended with its node
 * is none of them: it may not even have begun (docs/decisions/0031).
 */
const mostDoubts = 2

const inDoubt = (reason: string) => `the relay may have taken it, but never said so: ${reason}`

/** Put off: a later attempt, or, when there is none left, the end that is given. */
const later = (attempts: number, exhausted: Partial<Settled> & Pick<Settled, "status">, error: string): Settled => {
  const delay = nextDelay(attempts)
  return delay === undefined
    ? { ...base, attempt_count: attempts, error, ...exhausted }
    : { ...base, attempt_count: attempts, error, status: "queued", delay }
}

/**
 * A recipient after an attempt; `attempts` counts those before it, `doubts` those of them to whose final dot there was no
 * answer. Total. A relay that cannot be used is nobody's fault: the recipient waits without losing an attempt. After the
 * final dot only a repetition with the same Message-ID can settle what no protocol can (RFC 5321 4.5.4), so an unknown
 * outcome is tried again and counted as ambiguous. Once: a relay that loses its answer each time may take the message each
 * time.
 */
export const settle = (attempts: number, outcome: SendOutcome, doubts: number): Settled => {
  const next = attempts + 1
  switch (outcome._tag) {
    case "Accepted":
      return { ...base, status: "sent", attempt_count: next }
    case "RecipientRefused": {
      const { bounceType, permanent, suppress } = classifyReply(outcome)
      const bounced = { status: "bounced", bounce_type: bounceType, suppress } as const
      return permanent
        ? { ...base, ...bounced, attempt_count: next, error: outcome.response }
        : later(next, bounced, outcome.response)
    }
    case "RelayUnavailable":
      return {
        ...base,
        status: "queued",
        attempt_count: attempts,
        delay: Duration.millis(Math.max(1000, outcome.retryInMillis)),
        error: outcome.reason
      }
    case "OutcomeUnknown":
      return doubts + 1 < mostDoubts
        ? { ...later(next, { status: "failed" }, outcome.reason), ambiguous: true }
        : { ...base, status: "failed", attempt_count: next, error: inDoubt(outcome.reason), ambiguous: true }
    case "DkimSigningFailed":
      return { ...base, status: "failed", attempt_count: next, error: outcome.message }
    case "Unsendable":
      return { ...base, status: "failed", attempt_count: next, error: outcome.reason }
  }
}
