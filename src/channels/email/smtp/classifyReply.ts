import type { SmtpStage } from "./SmtpErrors.ts"

/**
 * Whether a refusal suppresses the address: `now`, as it does not exist; `repeated`, when another message was refused
 * like that within 30 days; `never`.
 */
export type Suppress = "never" | "repeated" | "now"

/** What a negative SMTP reply means for the message (`permanent`), its event and the address (`suppress`). */
export interface ReplyClass {
  /** False: the same message may be offered again later. */
  readonly permanent: boolean
  readonly bounceType: "hard" | "soft"
  readonly suppress: Suppress
}

/** RFC 3463 and RFC 7505 (5.1.10), RFC 7504 statuses that say the mailbox is gone or never was. */
const goneMailbox = new Set(["5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1", "5.7.13"])

/** Permanent for this message, and no fault of the address: the mailbox is full, or the time to deliver ran out. */
const passing = new Set(["5.2.2", "5.4.7", "5.4.300"])

const temporary: ReplyClass = { permanent: false, bounceType: "soft", suppress: "never" }
const passed: ReplyClass = { permanent: true, bounceType: "soft", suppress: "never" }
const refused: ReplyClass = { permanent: true, bounceType: "hard", suppress: "never" }
const unexplained: ReplyClass = { permanent: true, bounceType: "hard", suppress: "repeated" }
const gone: ReplyClass = { permanent: true, bounceType: "hard", suppress: "now" }

/** The answers that can be about the recipient: to its address and to the whole message. */
const aboutRecipient: ReadonlySet<SmtpStage> = new Set<SmtpStage>(["rcpt", "message"])

/**
 * Classifies a negative reply. The reply code decides about permanence; an enhanced status of another class than the
 * code is a contradiction and ignored. A plain 550 without a status is hard, and only its repetition suppresses. Answers
 * to MAIL speak about our sender, so they never suppress.
 */
export const classifyReply = (
  reply: { readonly code: number; readonly enhanced?: string; readonly stage: SmtpStage }
): ReplyClass => {
  // 503 says that the session was out of step, not that the message was refused.
  if (reply.code < 500 || reply.code > 599 || reply.code === 503) return temporary
  if (reply.enhanced === undefined) {
    return reply.code === 550 && aboutRecipient.has(reply.stage) ? unexplained : refused
  }
  if (passing.has(reply.enhanced)) return passed
  return goneMailbox.has(reply.enhanced) && reply.stage !== "mail" ? gone : refused
}
