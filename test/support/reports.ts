/** The reported mail, as known to the mail servers that write reports. */
export interface ReportedMail {
  /** The message's return path, to which the report goes. */
  readonly returnPath: string
  readonly to: string
  readonly messageId?: string
  readonly listUnsubscribe?: string
}

export interface DeliveryOptions {
  readonly action?: string
  readonly status?: string
  readonly diagnostic?: string
  /** The address where delivery failed, if it differs from the recipient. */
  readonly finalRecipient?: string
}

const crlf = (text: string) => Buffer.from(text.replaceAll(/\r?\n/g, "\r\n"), "utf8")

const headersOf = ({ listUnsubscribe, messageId = "one@news.example", returnPath, to }: ReportedMail) =>
  `Return-Path: <${returnPath}>
From: News <us@news.example>
To: ${to}
Subject: Order 7 is on its way
Message-ID: <${messageId}>${listUnsubscribe === undefined ? "" : `\nList-Unsubscribe: <${listUnsubscribe}>`}
MIME-Version: 1.0
Content-Type: text/plain`

const refusal = { action: "failed", status: "5.1.1", diagnostic: "smtp; 550 5.1.1 No such user here" }

/** A report in Postfix's format: every field, the type with a space, the original's headers. */
export const postfixDsn = (mail: ReportedMail, options: DeliveryOptions = {}): Buffer => {
  const { action, diagnostic, finalRecipient, status } = { ...refusal, finalRecipient: mail.to, ...options }
  return crlf(`Return-Path: <>
Date: Thu, 31 Jan 2030 09:00:00 +0000 (UTC)
From: MAILER-DAEMON@mx.people.example (Mail Delivery System)
Subject: Undelivered Mail Returned to Sender
To: ${mail.returnPath}
Auto-Submitted: auto-replied
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status;
\tboundary="4F1C2A.1896080400/mx.people.example"
Message-Id: <20300131090000.4F1C2A@mx.people.example>

This is a MIME-encapsulated message.

--4F1C2A.1896080400/mx.people.example
Content-Description: Notification
Content-Type: text/plain; charset=utf-8

This is the mail system at host mx.people.example.

<${mail.to}>: ${diagnostic}

--4F1C2A.1896080400/mx.people.example
Content-Description: Delivery report
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.people.example
X-Postfix-Queue-ID: 4F1C2A
X-Postfix-Sender: rfc822; ${mail.returnPath}
Arrival-Date: Thu, 31 Jan 2030 08:59:58 +0000 (UTC)

Final-Recipient: rfc822; ${finalRecipient}
Original-Recipient: rfc822;${mail.to.replaceAll("+", "+2B")}
Action: ${action}
Status: ${status}
Remote-MTA: dns; inner.people.example
Diagnostic-Code: ${diagnostic.replace(" ", "\n    ")}

--4F1C2A.1896080400/mx.people.example
Content-Description: Undelivered Message Headers
Content-Type: text/rfc822-headers

${headersOf(mail)}

--4F1C2A.1896080400/mx.people.example--
`)
}

/** A report in Exchange's format: an HTML notice beside the text, no space after the type, the whole original. */
export const exchangeDsn = (mail: ReportedMail, options: DeliveryOptions = {}): Buffer => {
  const { action, diagnostic, status } = {
    ...refusal,
    status: "5.1.10",
    diagnostic: "smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup",
    ...options
  }
  return crlf(`From: <postmaster@people.example>
To: <${mail.returnPath}>
Date: Thu, 31 Jan 2030 09:00:00 +0000
Content-Type: multipart/report; report-type=delivery-status;
 boundary="_000_outer_"
X-MS-Exchange-Message-Is-Ndr:
Content-Language: en-GB
Subject: Undeliverable: Order 7 is on its way
Auto-Submitted: auto-replied
MIME-Version: 1.0

--_000_outer_
Content-Type: multipart/alternative; differences=Content-Type;
 boundary="_000_inner_"

--_000_inner_
Content-Type: text/plain; charset="us-ascii"
Content-Transfer-Encoding: quoted-printable

Your message to ${mail.to} couldn't be delivered.

--_000_inner_
Content-Type: text/html; charset="us-ascii"
Content-Transfer-Encoding: quoted-printable

<html><body><p>Your message couldn't be delivered.</p></body></html>

--_000_inner_--

--_000_outer_
Content-Type: message/delivery-status

Reporting-MTA: dns;EX01.people.example
Received-From-MTA: dns;relay.example
Arrival-Date: Thu, 31 Jan 2030 08:59:59 +0000

Original-Recipient: rfc822;${mail.to}
Final-Recipient: rfc822;${mail.to}
Action: ${action}
Status: ${status}
Diagnostic-Code: ${diagnostic}

--_000_outer_
Content-Type: message/rfc822

${headersOf(mail)}

The order.

--_000_outer_--
`)
}

/** A report in Gmail's format: nested parts with an image, and comments in the status report. */
export const gmailDsn = (mail: ReportedMail, options: DeliveryOptions = {}): Buffer => {
  const { action, diagnostic, status } = {
    ...refusal,
    diagnostic:
      "smtp; 550-5.1.1 The email account that you tried to reach does not exist. Please try\n 550-5.1.1 double-checking the address. 550 5.1.1 NoSuchUser - gsmtp",
    ...options
  }
  return crlf(`Content-Type: multipart/report; boundary="000000000000report"; report-type=delivery-status
To: ${mail.returnPath}
Auto-Submitted: auto-replied
Subject: Delivery Status Notification (Failure)
From: Mail Delivery Subsystem <mailer-daemon@gmail.example>
Date: Thu, 31 Jan 2030 01:00:00 -0800 (PST)
MIME-Version: 1.0

--000000000000report
Content-Type: multipart/related; boundary="000000000000related"

--000000000000related
Content-Type: multipart/alternative; boundary="000000000000alternative"

--000000000000alternative
Content-Type: text/plain; charset="UTF-8"

** Address not found **

--000000000000alternative
Content-Type: text/html; charset="UTF-8"

<html><img src="cid:icon.png"></html>

--000000000000alternative--
--000000000000related
Content-Type: image/png; name="icon.png"
Content-Disposition: attachment; filename="icon.png"
Content-Transfer-Encoding: base64
Content-ID: <icon.png>

iVBORw0KGgo=
--000000000000related--
--000000000000report
Content-Type: message/delivery-status

Reporting-MTA: dns; gmail.example
Received-From-MTA: dns; us@news.example
Arrival-Date: Thu, 31 Jan 2030 00:59:58 -0800 (PST)
X-Original-Message-ID: <${mail.messageId ?? "one@news.example"}>

Final-Recipient: rfc822; ${mail.to}
Action: ${action}
Status: ${status} (no such user)
Diagnostic-Code: ${diagnostic}
Last-Attempt-Date: Thu, 31 Jan 2030 01:00:00 -0800 (PST)

--000000000000report
Content-Type: message/rfc822

${headersOf(mail)}

The order.
--000000000000report--
`)
}

/** A report in Yahoo's format: bare line feeds, mixed case, an unspecific status, the reason only in the diagnostic. */
export const yahooDsn = (mail: ReportedMail, options: DeliveryOptions = {}): Buffer => {
  const { action, diagnostic, status } = {
    ...refusal,
    status: "5.0.0",
    diagnostic: "smtp; 554 delivery error: dd This user doesn't have a yahoo account [-5]",
    ...options
  }
  return Buffer.from(`From: MAILER-DAEMON@yahoo.example
To: ${mail.returnPath}
Subject: Failure Notice
Date: 31 Jan 2030 09:00:00 -0000
MIME-Version: 1.0
content-type: MULTIPART/REPORT; REPORT-TYPE="delivery-status"; BOUNDARY="y1"

--y1
content-type: text/plain

Sorry, we were unable to deliver your message to ${mail.to}.

--y1
content-type: MESSAGE/DELIVERY-STATUS

reporting-mta: dns; yahoo.example

FINAL-RECIPIENT: RFC822;<${mail.to.toUpperCase()}>
action: ${action.toUpperCase()}
status: ${status}
diagnostic-code: ${diagnostic}

--y1
content-type: TEXT/RFC822-HEADERS

${headersOf(mail)}

--y1--
`)
}

export interface ComplaintOptions {
  readonly type?: string
  /** Whether user addresses are redacted in the report and the original, as providers do. */
  readonly redacted?: boolean
}

/** A complaint in the Abuse Reporting Format (RFC 5965). */
export const arf = (mail: ReportedMail, { redacted = false, type = "abuse" }: ComplaintOptions = {}): Buffer => {
  const about: ReportedMail = redacted ? { ...mail, to: "redacted@redacted.example", returnPath: "" } : mail
  return crlf(`From: <feedback@fbl.people.example>
To: <fbl@bounces.example>
Date: Thu, 31 Jan 2030 10:00:00 +0000
Subject: FW: Order 7 is on its way
MIME-Version: 1.0
Content-Type: multipart/report; report-type=feedback-report; boundary="arf_1"

--arf_1
Content-Type: text/plain; charset="US-ASCII"
Content-Transfer-Encoding: 7bit

This is an email abuse report.

--arf_1
Content-Type: message/feedback-report

Feedback-Type: ${type}
User-Agent: SomeGenerator/1.0
Version: 1
${redacted ? "" : `Original-Mail-From: <${mail.returnPath}>\nOriginal-Rcpt-To: <${mail.to}>\n`}Source-IP: 192.0.2.1

--arf_1
Content-Type: message/rfc822
Content-Disposition: inline

${headersOf(about)}

The order.
--arf_1--
`)
}

/** An automatic reply that quotes a report without being one. */
export const autoReply = (mail: ReportedMail): Buffer =>
  crlf(`From: ${mail.to}
To: ${mail.returnPath}
Subject: Out of office
Auto-Submitted: auto-replied
Content-Type: multipart/mixed; boundary="o"

--o
Content-Type: text/plain

I am away. Action: failed. Status: 5.1.1

--o
Content-Type: message/delivery-status

Reporting-MTA: dns; nowhere.example

Final-Recipient: rfc822; ${mail.to}
Action: failed
Status: 5.1.1
--o--
`)
