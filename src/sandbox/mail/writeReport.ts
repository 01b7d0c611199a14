import { DateTime } from "effect"
import type { ReportKind } from "./specialAddresses.ts"

interface Delivery {
  readonly action: "failed" | "delayed" | "delivered"
  readonly status: string
  readonly diagnostic: string
}

const deliveries: Readonly<Record<Exclude<ReportKind, "complaint">, Delivery>> = {
  bounce: { action: "failed", status: "5.1.1", diagnostic: "550 5.1.1 No such user here" },
  "soft bounce": { action: "failed", status: "5.2.2", diagnostic: "552 5.2.2 Mailbox full" },
  delay: { action: "delayed", status: "4.4.1", diagnostic: "451 4.4.1 The mail server does not answer, still trying" },
  delivery: { action: "delivered", status: "2.0.0", diagnostic: "250 2.0.0 Delivered" }
}

/** An accepted mail, as far as a report needs it. */
export interface ReportedMail {
  readonly returnPath: string
  readonly recipient: string
  readonly raw: Uint8Array
  readonly at: DateTime.Utc
}

const headersOf = (raw: Uint8Array) => {
  const text = Buffer.from(raw).toString("latin1")
  const end = text.indexOf("\r\n\r\n")
  return end < 0 ? text : text.slice(0, end + 2)
}

const boundary = "=_sandbox_report"

const frame = (mail: ReportedMail, type: string, parts: ReadonlyArray<readonly [type: string, content: string]>) =>
  [
    "From: Sandbox <mailer-daemon@sandbox.localhost>",
    `To: <${mail.returnPath}>`,
    `Date: ${DateTime.toDateUtc(mail.at).toUTCString().replace("GMT", "+0000")}`,
    "Subject: Delivery report",
    "Auto-Submitted: auto-generated",
    "MIME-Version: 1.0",
    `Content-Type: multipart/report; report-type=${type}; boundary="${boundary}"`,
    "",
    ...parts.flatMap(([partType, content]) => [`--${boundary}`, `Content-Type: ${partType}`, "", content]),
    `--${boundary}--`,
    ""
  ].join("\r\n")

const deliveryReport = (mail: ReportedMail, { action, diagnostic, status }: Delivery) =>
  frame(mail, "delivery-status", [
    ["text/plain", `<${mail.recipient}>: ${action}, ${diagnostic}\r\n`],
    [
      "message/delivery-status",
      [
        "Reporting-MTA: dns; sandbox.localhost",
        "",
        `Final-Recipient: rfc822; ${mail.recipient}`,
        `Action: ${action}`,
        `Status: ${status}`,
        `Diagnostic-Code: smtp; ${diagnostic}`,
        ""
      ].join("\r\n")
    ],
    ["text/rfc822-headers", headersOf(mail.raw)]
  ])

const complaint = (mail: ReportedMail) =>
  frame(mail, "feedback-report", [
    ["text/plain", "The recipient reported this mail as spam.\r\n"],
    ["message/feedback-report", ["Feedback-Type: abuse", "User-Agent: Sandbox/1", "Version: 1", ""].join("\r\n")],
    ["text/rfc822-headers", headersOf(mail.raw)]
  ])

/**
 * Writes a delivery report (RFC 3464) to the return path, or a complaint (RFC 5965) to the address that is registered
 * for feedback loops.
 */
export const writeReport = (kind: ReportKind, mail: ReportedMail): { readonly to: string; readonly raw: Buffer } =>
  kind === "complaint"
    ? {
      to: `fbl${mail.returnPath.slice(mail.returnPath.lastIndexOf("@"))}`,
      raw: Buffer.from(complaint(mail), "latin1")
    }
    : { to: mail.returnPath, raw: Buffer.from(deliveryReport(mail, deliveries[kind]), "latin1") }
