import { parseReply, printableLine } from "./parseReply.ts"
import { OutcomeUnknown, RecipientRefused, RelayUnavailable } from "./SmtpErrors.ts"
import type { RelayFault, SendFailure, SmtpStage } from "./SmtpErrors.ts"

/** What nodemailer's engine reports when it cannot connect or log in. */
export interface EngineError {
  readonly code?: string | undefined
  readonly message: string
}

// "Authenticate first" (RFC 4954 6) and "encryption required" (RFC 3207 4) are about our account at the relay.
const accountCodes = new Set([530, 534, 535, 538])

/** A failure before any message was in the conversation. */
export const connectFailure = (error: EngineError): RelayUnavailable => {
  const fault: RelayFault = error.code === "EAUTH" ? "auth" : error.code === "ETLS" ? "tls" : "connect"
  return new RelayUnavailable({ fault, reason: printableLine(error.message), retryInMillis: 0 })
}

/** What a reply means that does not go on with the transaction. */
export const refusedWith = (text: string, stage: SmtpStage): SendFailure => {
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
  // 503 tells of a session out of step, so a later attempt may succeed although the digit says otherwise.
  return new RecipientRefused({ ...reply, stage, permanent: reply.code >= 500 && reply.code !== 503 })
}

/**
 * What the end of a connection means for the message in it. Of one whose final dot never left, the relay keeps nothing
 * (RFC 5321 4.1.1.10), so there is no doubt about it.
 */
export const lostWith = (reason: string, finalDotSent: boolean): SendFailure =>
  finalDotSent
    ? new OutcomeUnknown({ reason: printableLine(reason) })
    : new RelayUnavailable({ fault: "lost", reason: printableLine(reason), retryInMillis: 0 })

/**
 * A connection that ended in the middle of a message's conversation, when it is counted as an attempt of that message:
 * put off like by any 4xx, in the relay's words where they are such, else with the status for a bad connection (RFC 3463
 * 4.4.2). Of an answer that was cut off nobody knows how it would have ended.
 */
export const putOff = ({ reason }: RelayUnavailable): RecipientRefused => {
  const said = parseReply(reason)
  const reply = said !== undefined && said.code >= 400 && said.code < 500
    ? said
    : { code: 421, enhanced: "4.4.2", response: printableLine(`421 4.4.2 ${reason}`) }
  return new RecipientRefused({ ...reply, stage: "rcpt", permanent: false })
}

const refusal = (code: number, enhanced: string, text: string) =>
  new RecipientRefused({
    stage: "client",
    permanent: true,
    code,
    enhanced,
    response: `${code} ${enhanced} ${text} (not sent)`
  })

/** The refusals we give ourselves, with the codes a relay would use (RFC 5321 4.2.3, 6531 3.5, 1870 6.1). */
export const clientRefusals = {
  badAddress: () => refusal(553, "5.1.3", "address is not valid in an SMTP command"),
  notAscii: () => refusal(553, "5.6.7", "the relay does not offer SMTPUTF8 for a non-ASCII address"),
  tooLarge: (limit: number) => refusal(552, "5.3.4", `message is larger than the relay's limit of ${limit} bytes`)
} as const
