/** Replies of a relay: their assembly from bytes, their parts, and the meaning of a refusal. */
import { StringDecoder } from "node:string_decoder"
import type { SmtpCapabilities } from "./Smtp.ts"
import type { SmtpStage } from "./SmtpErrors.ts"

/** RFC 5321 4.5.3.1.5 allows a line of 512 bytes. The bound keeps an endless reply out of memory. */
const maxReplyBytes = 64 * 1024

/** Another line of the same reply follows (RFC 5321 4.2.1). */
const continues = /^\d{3}-/

/** Assembles the replies of a relay from the chunks in which they arrive. */
export class ReplyReader {
  readonly #decoder = new StringDecoder("utf8")
  /** The complete lines of a reply whose last line is missing. */
  #lines = ""
  #line = ""

  /** The part of an incomplete reply that has arrived. */
  get rest(): string {
    return this.#lines + this.#line
  }

  /** The replies that this chunk completes, their lines separated by LF. Undefined when a reply exceeds 64 kB. */
  take(chunk: Buffer): ReadonlyArray<string> | undefined {
    const lines = (this.#line + this.#decoder.write(chunk)).split(/\r?\n/)
    this.#line = lines.pop() ?? ""
    const replies: Array<string> = []
    for (const line of lines) {
      if (continues.test(line)) this.#lines += `${line}\n`
      else if (this.#lines !== "" || line.trim() !== "") {
        replies.push(this.#lines + line)
        this.#lines = ""
      }
    }
    return this.rest.length > maxReplyBytes ? undefined : replies
  }
}

/** The parts of an SMTP reply. */
export interface SmtpReply {
  readonly code: number
  /** RFC 3463 status, if its class agrees with the code. */
  readonly enhanced?: string
  /** The whole reply as one printable line. */
  readonly response: string
}

/** A reply is foreign text that ends in rows, events and logs, so longer ones are cut. */
const maxLineLength = 500

// C0, DEL, C1, line and paragraph separators, direction overrides: they move a terminal's cursor or turn its text
// around; NUL cannot be stored by PostgreSQL at all.
// oxlint-disable-next-line no-control-regex
const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Most replies are such a line already. */
const printable = /^[!-~]+(?: [!-~]+)*$/

/** Makes foreign text one printable, well-formed line of at most 500 characters. */
export const printableLine = (text: string): string => {
  if (text.length <= maxLineLength && printable.test(text)) return text
  const line = text.slice(0, 4 * maxLineLength).replaceAll(/[\r\n\t ]+/g, " ").trim().replaceAll(unprintable, "\ufffd")
  return line.slice(0, maxLineLength).toWellFormed()
}

const replyCode = /^([2345]\d\d)(?:[ -]|$)/
const enhancedStatus = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})(?=[\s]|$)/m

/** Parses a reply (RFC 5321 4.2); undefined when the text is not a reply. */
export const parseReply = (text: string): SmtpReply | undefined => {
  const code = replyCode.exec(text)?.[1]
  if (code === undefined) return undefined
  const enhanced = enhancedStatus.exec(text)?.[1]
  return {
    code: Number(code),
    response: printableLine(text),
    ...(enhanced?.[0] === code[0] && enhanced !== undefined ? { enhanced } : {})
  }
}

/** Parses the reply to EHLO (RFC 5321 4.1.1.1); its first line is the greeting and offers nothing. */
export const parseEhlo = (reply: string, tls: boolean): SmtpCapabilities => {
  const lines = reply.split(/\r?\n/).slice(1).map((line) => line.slice(4).trim().toUpperCase())
  const keywords = lines.map((line) => line.split(/[\s=]/, 1)[0] ?? "")
  const parameters = (keyword: string) => {
    const line = lines[keywords.indexOf(keyword)]
    return line === undefined ? [] : line.split(/[\s=]+/).slice(1)
  }
  const size = Number(parameters("SIZE")[0])
  return {
    extensions: keywords.filter((keyword) => keyword !== ""),
    authMethods: parameters("AUTH"),
    // RFC 1870: 0 and a missing number both mean that the relay states no limit.
    maxSize: Number.isSafeInteger(size) && size > 0 ? size : undefined,
    tls
  }
}

/**
 * Whether a refusal suppresses the address. `now`: the address does not exist. `repeated`: only after another message
 * got the same refusal within 30 days.
 */
export type Suppress = "never" | "repeated" | "now"

/** The meaning of a refusal for the message (`permanent`), its event (`bounceType`) and the address (`suppress`). */
export interface ReplyClass {
  /** False: the same message may be retried. */
  readonly permanent: boolean
  readonly bounceType: "hard" | "soft"
  readonly suppress: Suppress
}

/** Statuses of RFC 3463, RFC 7504 and RFC 7505 (5.1.10) for a mailbox that does not exist. */
const goneMailbox = new Set(["5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1", "5.7.13"])

/** Permanent for this message but not the address's fault: the mailbox is full, or the delivery time expired. */
const notTheAddress = new Set(["5.2.2", "5.4.7", "5.4.300"])

const temporary: ReplyClass = { permanent: false, bounceType: "soft", suppress: "never" }
const undelivered: ReplyClass = { permanent: true, bounceType: "soft", suppress: "never" }
const refused: ReplyClass = { permanent: true, bounceType: "hard", suppress: "never" }
const unexplained: ReplyClass = { permanent: true, bounceType: "hard", suppress: "repeated" }
const gone: ReplyClass = { permanent: true, bounceType: "hard", suppress: "now" }

/** The stages whose reply can be about the recipient: its address and the whole message. */
const aboutRecipient: ReadonlySet<SmtpStage> = new Set<SmtpStage>(["rcpt", "message"])

/**
 * Classifies a refusal. The reply code decides about permanence. An enhanced status of another class contradicts the
 * code and is ignored. A 550 without a status is a hard bounce, but only its repetition suppresses the address. A reply
 * to MAIL is about the sender, so it never suppresses.
 */
export const classifyReply = (
  reply: { readonly code: number; readonly enhanced?: string; readonly stage: SmtpStage }
): ReplyClass => {
  // 503 means that the two sides are out of step, not that the relay refused the message.
  if (reply.code < 500 || reply.code > 599 || reply.code === 503) return temporary
  if (reply.enhanced === undefined) {
    return reply.code === 550 && aboutRecipient.has(reply.stage) ? unexplained : refused
  }
  if (notTheAddress.has(reply.enhanced)) return undelivered
  return goneMailbox.has(reply.enhanced) && reply.stage !== "mail" ? gone : refused
}
