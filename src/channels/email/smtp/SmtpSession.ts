import type { Effect } from "effect"
import type { Accepted, SmtpCapabilities, SmtpMail } from "./Smtp.ts"
import type { SendFailure } from "./SmtpErrors.ts"

/**
 * One authenticated connection to the relay, used by one sender at a time. Interrupting `send` or `reset` closes it: a
 * conversation somebody walked out of can never be trusted again.
 */
export interface SmtpSession {
  readonly capabilities: SmtpCapabilities
  /** False once either side closed it, or an answer did not fit the question. */
  readonly usable: () => boolean
  /** Hands over one message. After a `RecipientRefused` the session wants a `reset` before the next. */
  readonly send: (mail: SmtpMail) => Effect.Effect<Accepted, SendFailure>
  /** RSET; a session that does not answer it is closed. */
  readonly reset: Effect.Effect<void>
  /** QUIT, then close; waits no longer for the answer than courtesy asks. */
  readonly quit: Effect.Effect<void>
  /** Drops the connection at once. */
  readonly close: () => void
}
