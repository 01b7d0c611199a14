import type { SmtpStage } from "./SmtpErrors.ts"

/** What a negative SMTP reply means for the message (`permanent`), its event and the address (`suppress`). */
export interface ReplyClass {
  /** False: the same message may be offered again later. */
  readonly permanent: boolean
  readonly bounceType: "hard" | "soft"
  /** True: the address does not exist; never write to it again. */
  readonly suppress: boolean
}

/** RFC 3463 and RFC 7505 (5.1.10), RFC 7504 statuses that say the mailbox is gone or never was. */
const goneMailbox = new Set(["5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1", "5.7.13"])

const temporary: ReplyClass = { permanent: false, bounceType: "soft", suppress: false }
const mailboxFull: ReplyClass = { permanent: true, bounceType: "soft", suppress: false }
const refused: ReplyClass = { permanent: true, bounceType: "hard", suppress: false }
const gone: ReplyClass = { permanent: true, bounceType: "hard", suppress: true }

/**
 * Classifies a negative reply. The reply code decides about permanence; an enhanced status of another class than the
 * code is a contradiction and ignored. A plain 5xx without a status is hard but does not suppress: only its repetition
 * would, and that needs the address's history. Answers to MAIL speak about our sender, so they never suppress.
 */
export const classifyReply = (
  reply: { readonly code: number; readonly enhanced?: string; readonly stage: SmtpStage }
): ReplyClass => {
  // 503 says that the session was out of step, not that the message was refused.
  if (reply.code < 500 || reply.code > 599 || reply.code === 503) return temporary
  if (reply.enhanced === "5.2.2") return mailboxFull
  return reply.enhanced !== undefined && goneMailbox.has(reply.enhanced) && reply.stage !== "mail" ? gone : refused
}
