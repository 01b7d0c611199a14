import { Duration } from "effect"
import { Obstacle, obstacles } from "../../../messages/scheduledRows.ts"
import { type DkimSigningFailed, notSigned } from "../mime/dkim.ts"
import type { SendFailure } from "../smtp/SmtpErrors.ts"
import { classifyReply, type Suppress } from "../smtp/SmtpReply.ts"
import { nextDelay } from "./SendRetryPolicy.ts"

/** The message cannot be composed by any attempt: a fault of this program, or of a text that an older version stored. */
export interface Unsendable {
  readonly _tag: "Unsendable"
  readonly reason: string
}

/** The outcome of a claim. Suppressed: the account has suppressed the address since, so there was no attempt. */
export type SendOutcome = { readonly _tag: "Accepted" | "Suppressed" } | SendFailure | DkimSigningFailed | Unsendable

/** The change that an outcome makes to a recipient's row. */
export interface Transition {
  readonly status: "queued" | "sent" | "bounced" | "failed" | "suppressed"
  readonly attempt_count: number
  /** The time until a queued recipient is due again. */
  readonly delay: Duration.Duration | undefined
  readonly bounce_type: "hard" | "soft" | null
  readonly error: string | null
  /** Whether the outcome suppresses the address for this account. */
  readonly suppress: Suppress
  /** The attempt is unconfirmed: the relay may have accepted the message. */
  readonly isUnconfirmed: boolean
}

const base = { delay: undefined, bounce_type: null, error: null, suppress: "never", isUnconfirmed: false } as const

/**
 * How many attempts may end without an answer to the final dot: the first and one repetition. An attempt that ended with
 * its node does not count, because it may not have begun (docs/decisions/0031).
 */
const maxUnconfirmed = 2

/** What the error of an attempt that the relay did not confirm begins with. */
export const unconfirmed = "the relay may have accepted it, but did not confirm: "

/** The error of a recipient whose node stopped during its attempt. */
export const interrupted = "interrupted before the relay had confirmed it"

/**
 * Tells apart why the service itself failed an email. Its record has only the text. A refusal of the relay is a bounce, and
 * so no failure.
 */
export const failureOf = (error: string): Obstacle | "outcome_unknown" | "not_signed" | "unsendable" => {
  if (error === interrupted || error.startsWith(unconfirmed)) return "outcome_unknown"
  if (error.startsWith(notSigned)) return "not_signed"
  return Obstacle.literals.find((code) => obstacles[code] === error) ?? "unsendable"
}

/** Schedules a later attempt, or ends with `exhausted` after the last one. */
const later = (
  attempts: number,
  exhausted: Partial<Transition> & Pick<Transition, "status">,
  error: string
): Transition => {
  const delay = nextDelay(attempts)
  return delay === undefined
    ? { ...base, attempt_count: attempts, error, ...exhausted }
    : { ...base, attempt_count: attempts, error, status: "queued", delay }
}

/**
 * Moves a recipient on after an attempt. `attempts` counts the earlier attempts, `unconfirmedAttempts` those of them that
 * got no answer to the final dot. Total. A relay that cannot be used costs the recipient no attempt. After the final dot
 * only a repetition with the same Message-ID can settle an unknown outcome (RFC 5321 4.5.4), so it is repeated and
 * counted as unconfirmed. It is repeated once: a relay that loses its answer each time may accept the message each time.
 */
export const transition = (attempts: number, outcome: SendOutcome, unconfirmedAttempts: number): Transition => {
  const next = attempts + 1
  switch (outcome._tag) {
    case "Accepted":
      return { ...base, status: "sent", attempt_count: next }
    case "Suppressed":
      return { ...base, status: "suppressed", attempt_count: attempts }
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
    case "OutcomeUnknown": {
      const failed = { status: "failed", error: `${unconfirmed}${outcome.reason}` } as const
      return unconfirmedAttempts + 1 < maxUnconfirmed
        ? { ...later(next, failed, outcome.reason), isUnconfirmed: true }
        : { ...base, ...failed, attempt_count: next, isUnconfirmed: true }
    }
    case "DkimSigningFailed":
      return { ...base, status: "failed", attempt_count: next, error: outcome.message }
    case "Unsendable":
      return { ...base, status: "failed", attempt_count: next, error: outcome.reason }
  }
}
