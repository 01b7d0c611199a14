import { DateTime } from "effect"

/** What came of a mail, as mail servers and mailbox providers write it to the sender's return path. */
export type ReportKind = "bounce" | "soft bounce" | "delay" | "delivery" | "complaint"

interface Delivery {
  readonly action: "failed" | "delayed" | "delivered"
  readonly status: string
  readonly diagnostic: string
}

/**
 * Addresses that are accepted and then ask for a report, by the start of their local part, so that all that can become of
 * a mail can be tried without a mail server on the internet. They are part of the documentation of the sandbox and shown
 * in its inbox.
 */
export const askedReports: ReadonlyArray<{
  readonly prefix: string
  readonly kind: ReportKind
  readonly meaning: string
}> = [
  {
    prefix: "latebounce",
    kind: "bounce",
    meaning: "is taken and reported as unknown afterwards: sent, then a hard bounce that suppresses the address"
  },
  {
    prefix: "latemailboxfull",
    kind: "soft bounce",
    meaning: "is taken and reported as full afterwards: sent, then a soft bounce"
  },
  { prefix: "delayed", kind: "delay", meaning: "is taken and reported as delayed, which changes nothing" },
  { prefix: "delivered", kind: "delivery", meaning: "is taken and its delivery is confirmed" },
  {
    prefix: "complain",
    kind: "complaint",
    meaning: "is taken and its reader reports it as spam: a complaint that suppresses the address for good"
  }
]

/** The report an address asks for. */
export const askedReport = (address: string): ReportKind | undefined => {
  const local = address.toLowerCase()
  return askedReports.find(({ prefix }) => local.startsWith(prefix))?.kind
}

const deliveries: Readonly<Record<Exclude<ReportKind, "complaint">, Delivery>> = {
  bounce: { action: "failed", status: "5.1.1", diagnostic: "550 5.1.1 No such user here" },
  "soft bounce": { action: "failed", status: "5.2.2", diagnostic: "552 5.2.2 Mailbox full" },
  delay: { action: "delayed", status: "4.4.1", diagnostic: "451 4.4.1 The mail server does not answer, still trying" },
  delivery: { action: "delivered", status: "2.0.0", diagnostic: "250 2.0.0 Delivered" }
}

/** A mail that was taken, as far as its report tells of it. */
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
    "Subject: Report about a mail of yours",
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
    ["text/plain", "A reader pressed the button for spam.\r\n"],
    ["message/feedback-report", ["Feedback-Type: abuse", "User-Agent: Sandbox/1", "Version: 1", ""].join("\r\n")],
    ["text/rfc822-headers", headersOf(mail.raw)]
  ])

/** The report (RFC 3464, RFC 5965) and where it goes: complaints to the address that feedback loops are registered with. */
export const writeReport = (kind: ReportKind, mail: ReportedMail): { readonly to: string; readonly raw: Buffer } =>
  kind === "complaint"
    ? {
      to: `fbl${mail.returnPath.slice(mail.returnPath.lastIndexOf("@"))}`,
      raw: Buffer.from(complaint(mail), "latin1")
    }
    : { to: mail.returnPath, raw: Buffer.from(deliveryReport(mail, deliveries[kind]), "latin1") }
