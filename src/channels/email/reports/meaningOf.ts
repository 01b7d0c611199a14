import type { DeliveryReport } from "../recipients/DeliveryReports.ts"
import { classifyReply, printableLine } from "../smtp/SmtpReply.ts"
import type { ReportedRecipient } from "./Report.ts"

const codeIn = /(?:^|;)\s*([245]\d\d)(?=[\s-]|$)/
const statusIn = /(?<![\d.])([245]\.\d{1,3}\.\d{1,3})(?![\d.])/

/** `5.0.0` and the like say no more than a reply code does. */
const isSpecific = (status: string | undefined) => status !== undefined && !/^\d\.0\.0$/.test(status)

/**
 * What a failure means (RFC 3463). The status decides; where it says nothing, the mail server's own answer does. An
 * address is suppressed only when it is the one that failed: mail that was forwarded may fail at an address of somebody
 * else. Naming the original recipient proves nothing, as servers that know DSN carry it along (RFC 3464 2.3.1).
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
  const error = printableLine(diagnostic.replace(/^\s*[\w-]+\s*;/, "")) || (status ?? "failed without a reason")
  const isOwn = finalAddresses.includes(to.toLowerCase())
  return { status: "bounced", bounceType, error, suppress: isOwn ? suppress : "never" }
}

/**
 * What a delivery report means for the recipient of the message whose return path it came to; undefined when it says
 * nothing final, as a delay does. What names the recipient counts before what names only addresses that its mail was
 * forwarded to, and of several addresses one that was reached counts.
 */
export const meaningOf = (recipients: ReadonlyArray<ReportedRecipient>, to: string): DeliveryReport | undefined => {
  const final = recipients.filter(({ action }) => action !== "other")
  const named = final.filter(({ addresses }) => addresses.includes(to.toLowerCase()))
  const about = named.length > 0 ? named : final
  if (about.some(({ action }) => action === "delivered")) return { status: "delivered" }
  const bounces = about.map((recipient) => bounceOf(recipient, to))
  return bounces.find((told) => told.status === "bounced" && told.suppress === "now") ?? bounces[0]
}
