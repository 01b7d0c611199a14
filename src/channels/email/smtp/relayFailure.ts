import { OutcomeUnknown, RecipientRefused, RelayUnavailable } from "./SmtpErrors.ts"
import type { RelayFault, SendFailure, SmtpStage } from "./SmtpErrors.ts"
import { parseReply, printableLine } from "./SmtpReply.ts"

/** An error of nodemailer's engine while it connects or logs in. */
export interface EngineError {
  readonly code?: string | undefined
  readonly message: string
}

// "Authenticate first" (RFC 4954 6) and "encryption required" (RFC 3207 4) are about our account at the relay.
const accountCodes = new Set([530, 534, 535, 538])

/** The failure of a connection that never carried a message. */
export const failureOfConnect = (error: EngineError): RelayUnavailable => {
  const fault: RelayFault = error.code === "EAUTH" ? "auth" : error.code === "ETLS" ? "tls" : "connect"
  return new RelayUnavailable({ fault, reason: printableLine(error.message), retryInMillis: 0 })
}

/** The failure that a reply means which does not continue the transaction. */
export const failureOfReply = (text: string, stage: SmtpStage): SendFailure => {
  const reply = parseReply(text)
  if (reply === undefined || reply.code < 400) {
    const reason = printableLine(`not an SMTP reply: ${text}`)
    return stage === "message"
      ? new OutcomeUnknown({ reason })
      : new RelayUnavailable({ fault: "lost", reason, retryInMillis: 0 })
  }
  if (reply.code === 421 || accountCodes.has(reply.code)) {
    const fault = reply.code === 421 && stage !== "mail" ? "dismissed" : "reply"
    return new RelayUnavailable({ fault, reason: reply.response, retryInMillis: 0 })
  }
  // 503 means that the two sides are out of step, so a retry may succeed although the code is 5xx.
  return new RecipientRefused({ ...reply, stage, permanent: reply.code >= 500 && reply.code !== 503 })
}

/**
 * The failure that a closed connection means for the message in flight. A relay keeps nothing of a message whose final
 * dot it never received (RFC 5321 4.1.1.10), so only after the final dot the outcome is unknown.
 */
export const failureOfDisconnect = (reason: string, finalDotSent: boolean): SendFailure =>
  finalDotSent
    ? new OutcomeUnknown({ reason: printableLine(reason) })
    : new RelayUnavailable({ fault: "lost", reason: printableLine(reason), retryInMillis: 0 })

/**
 * Turns the early end of a transaction into a temporary refusal, so that it counts as an attempt of its message. It
 * keeps a 4xx reply of the relay. Otherwise it uses the status for a bad connection (RFC 3463 4.4.2), also for a reply
 * that was cut off, since its end is unknown.
 */
export const asDeferral = ({ reason }: RelayUnavailable): RecipientRefused => {
  const said = parseReply(reason)
  const reply = said !== undefined && said.code >= 400 && said.code < 500
    ? said
    : { code: 421, enhanced: "4.4.2", response: printableLine(`421 4.4.2 ${reason}`) }
  return new RecipientRefused({ ...reply, stage: "rcpt", permanent: false })
}
