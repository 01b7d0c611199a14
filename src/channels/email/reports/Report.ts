import type { DeliveryReport } from "../recipients/DeliveryReports.ts"
import { classifyReply, printableLine } from "../smtp/SmtpReply.ts"

/** The part of a delivery report about one recipient (RFC 3464 2.3). */
export interface ReportedRecipient {
  /** `other`: an action that says nothing of the end (`relayed`, `expanded`) or is unknown. */
  readonly action: "failed" | "delivered" | "delayed" | "other"
  /** The RFC 3463 status, undefined when there is none or it is invalid. */
  readonly status: string | undefined
  /** The mail server's reply, empty when there is none. */
  readonly diagnostic: string
  /** Original and final recipient, if they are given, in lower case. */
  readonly addresses: ReadonlyArray<string>
  /** The final recipient in lower case. It differs from the original one when the mail was forwarded. */
  readonly finalAddresses: ReadonlyArray<string>
}

/** The contents of a mail to one of our addresses, if it is a report. */
export type Report =
  | { readonly _tag: "Delivery"; readonly recipients: ReadonlyArray<ReportedRecipient> }
  /** A complaint (RFC 5965); `hints` are the values that can contain one of our tokens. */
  | { readonly _tag: "Feedback"; readonly type: string; readonly hints: ReadonlyArray<string> }
  | { readonly _tag: "None" }

const codeIn = /(?:^|;)\s*([245]\d\d)(?=[\s-]|$)/
const statusIn = /(?<![\d.])([245]\.\d{1,3}\.\d{1,3})(?![\d.])/

/** `5.0.0` and `4.0.0` say no more than a reply code does. */
const isSpecific = (status: string | undefined) => status !== undefined && !/^\d\.0\.0$/.test(status)

const reasonOf = (
  { diagnostic, status }: Pick<ReportedRecipient, "diagnostic" | "status">,
  what: "failed" | "delayed"
) => printableLine(diagnostic.replace(/^\s*[\w-]+\s*;/, "")) || (status ?? `${what} without a reason`)

/**
 * Classifies a failure (RFC 3463). The status decides; without one, the mail server's reply does. An address is
 * suppressed only if it is the one that failed: forwarded mail may fail at another person's address. An original
 * recipient proves nothing, because servers that support DSN pass it along (RFC 3464 2.3.1).
 */
const bounceOf = ({ diagnostic, finalAddresses, status }: ReportedRecipient, to: string): DeliveryReport => {
  const code = codeIn.exec(diagnostic)?.[1]
  const said = statusIn.exec(diagnostic)?.[1]
  const grade = (status ?? said ?? code)?.[0] === "4" ? "4" : "5"
  const enhanced = [status, said].find((found) => isSpecific(found) && found?.[0] === grade)
  const { bounceType, suppress } = classifyReply({
    code: code?.[0] === grade ? Number(code) : grade === "4" ? 450 : 554,
    ...(enhanced !== undefined && { enhanced }),
    stage: "rcpt"
  })
  const error = reasonOf({ diagnostic, status }, "failed")
  const isOwn = finalAddresses.includes(to.toLowerCase())
  return { status: "bounced", bounceType, error, suppress: isOwn ? suppress : "never" }
}

/**
 * The meaning of a delivery report for the message's recipient; undefined when it says nothing of the end. Parts that name
 * the recipient take precedence over parts about addresses that the mail was forwarded to. Of several addresses, one that was
 * reached decides, and a delay counts only if none has ended.
 */
export const meaningFor = (recipients: ReadonlyArray<ReportedRecipient>, to: string): DeliveryReport | undefined => {
  const telling = recipients.filter(({ action }) => action !== "other")
  const final = telling.filter(({ action }) => action !== "delayed")
  const [delayed] = telling
  if (final.length === 0) {
    return delayed === undefined ? undefined : { status: "delayed", error: reasonOf(delayed, "delayed") }
  }
  const named = final.filter(({ addresses }) => addresses.includes(to.toLowerCase()))
  const relevant = named.length > 0 ? named : final
  if (relevant.some(({ action }) => action === "delivered")) return { status: "delivered" }
  const bounces = relevant.map((recipient) => bounceOf(recipient, to))
  return bounces.find((bounce) => bounce.status === "bounced" && bounce.suppress === "now") ?? bounces[0]
}
