import { parseReply, printableLine } from "./parseReply.ts"
import { OutcomeUnknown, RecipientRefused, RelayUnavailable } from "./SmtpErrors.ts"
import type { RelayFault, SendFailure, SmtpStage } from "./SmtpErrors.ts"

/** What the SMTP engine reports when a step fails. */
export interface EngineError {
  readonly code?: string | undefined
  readonly command?: string | undefined
  readonly response?: string | undefined
  readonly message: string
}

/** How far the body got: `started` when its first byte was handed to the socket, `ended` when the final dot was. */
export interface BodyProgress {
  readonly started: boolean
  readonly ended: boolean
}

const stages: Readonly<Record<string, SmtpStage>> = { "MAIL FROM": "mail", "RCPT TO": "rcpt", "DATA": "data" }

// "Authenticate first" (RFC 4954 6) and "encryption required" (RFC 3207 4) are about our account at the relay.
const accountCodes = new Set([530, 534, 535, 538])

const sentence = (error: EngineError) => printableLine(error.response ?? error.message)

/** A failure before any message was in the conversation. */
export const connectFailure = (error: EngineError): RelayUnavailable => {
  const fault: RelayFault = error.code === "EAUTH" ? "auth" : error.code === "ETLS" ? "tls" : "connect"
  return new RelayUnavailable({ fault, reason: printableLine(error.message), retryInMillis: 0 })
}

const answered = (error: EngineError, stage: SmtpStage): SendFailure => {
  const reply = parseReply(error.response ?? "")
  if (reply === undefined || reply.code < 400) {
    const reason = `not an SMTP reply: ${sentence(error)}`
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
 * Says what an engine error means for the message. The body's progress is what settles delivery: the engine reports a
 * connection lost after the final dot with the same codes as one lost before DATA. Of a message whose final dot never
 * left, the relay keeps nothing (RFC 5321 4.1.1.10), so there is no doubt about it.
 */
export const sendFailure = (error: EngineError, body: BodyProgress): SendFailure => {
  if (error.code === "EMESSAGE" && error.response !== undefined) return answered(error, "message")
  const stage = stages[error.command ?? ""]
  if (error.code === "EENVELOPE" && stage !== undefined) return answered(error, stage)
  if (body.ended) return new OutcomeUnknown({ reason: sentence(error) })
  // A 421 in the middle ends the conversation; the engine reports it as a lost connection that carries the reply.
  const fault = parseReply(error.response ?? "")?.code === 421 ? "dismissed" : "lost"
  return new RelayUnavailable({ fault, reason: sentence(error), retryInMillis: 0 })
}

/**
 * A connection that ended in the middle of a message's conversation, when it is counted as an attempt of that message:
 * put off like by any 4xx, in the relay's words, or with the status for a bad connection (RFC 3463 4.4.2).
 */
export const putOff = ({ reason }: RelayUnavailable): RecipientRefused => {
  const reply = parseReply(reason) ?? { code: 421, enhanced: "4.4.2", response: printableLine(`421 4.4.2 ${reason}`) }
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
