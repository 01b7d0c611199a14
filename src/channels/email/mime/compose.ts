import { DateTime } from "effect"
import type { EmailAddress } from "../../../values/EmailAddress.ts"
import type { Mailbox } from "../request/Mailbox.ts"
import { type Attachment, attachmentPart } from "./attachments.ts"
import { mailboxField, textField, tokenField, uri } from "./headers.ts"
import { encodeQuotedPrintable, quotedPrintableBound } from "./quotedPrintable.ts"

/** What all messages of a batch have in common. */
export interface Sender {
  readonly from: Mailbox
  readonly replyTo?: Mailbox | undefined
  /** Gmail's Feedback-ID: up to four parts with colons, the last one the service. */
  readonly feedbackId?: string | undefined
  /** Further fields. A name that is no field name, or that the composer or the relay sets, is left out. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** What is one message's own. */
export interface Letter {
  readonly to: EmailAddress | ReadonlyArray<EmailAddress>
  readonly cc?: ReadonlyArray<EmailAddress> | undefined
  readonly subject: string
  readonly html?: string | undefined
  readonly text?: string | undefined
  /** `id@domain`, with or without its angle brackets. */
  readonly messageId: string
  /** Epoch milliseconds. The same letter gives the same bytes at any time, so that a repetition is a repetition. */
  readonly date: number
  /** One-click unsubscription (RFC 8058); `mailto` is an address, with `?subject=` or without. */
  readonly listUnsubscribe?: { readonly url: string; readonly mailto?: string | undefined } | undefined
  readonly attachments?: ReadonlyArray<Attachment> | undefined
}

/** Text that is written as it stands, and bytes that are written as quoted-printable. */
type Section = string | Buffer

interface Entity {
  /** The Content fields, each with its line end. */
  readonly fields: string
  readonly body: ReadonlyArray<Section>
}

// Quoted-printable and base64 never contain `=_` (RFC 2045 6.7), so no content can end a part.
const alternative = "=_alternative"
const mixed = "=_mixed"

const fieldName = /^[A-Za-z][A-Za-z0-9-]{0,39}$/

const reservedName = new RegExp(
  "^(?:from|sender|reply-to|to|cc|bcc|subject|date|message-id|mime-version|content-.*|resent-.*|received.*|return-path"
    + "|dkim-signature|domainkey-signature|arc-.*|authentication-results|list-unsubscribe.*|feedback-id|x-mailer)$",
  "i"
)

const leaf = (type: "plain" | "html", text: string): Entity => ({
  fields: `Content-Type: text/${type}; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n`,
  body: [Buffer.from(text, "utf8")]
})

const multipart = (type: "alternative" | "mixed", boundary: string, parts: ReadonlyArray<Entity>): Entity => ({
  fields: `Content-Type: multipart/${type}; boundary="${boundary}"\r\n`,
  body: [
    ...parts.flatMap((
      { body, fields },
      index
    ) => [`${index === 0 ? "" : "\r\n"}--${boundary}\r\n${fields}\r\n`, ...body]),
    `\r\n--${boundary}--`
  ]
})

const texts = ({ html, text }: Letter): Entity => {
  if (html === undefined) return leaf("plain", text ?? "")
  if (text === undefined) return leaf("html", html)
  return multipart("alternative", alternative, [leaf("plain", text), leaf("html", html)])
}

const content = (letter: Letter): Entity => {
  const files = letter.attachments ?? []
  if (files.length === 0) return texts(letter)
  return multipart("mixed", mixed, [texts(letter), ...files.map(attachmentPart)])
}

let dateOfSecond = { second: Number.NaN, field: "" }

/** The Date field, which is made once for all letters of a second. */
const dateField = (millis: number): string => {
  const second = Math.floor(millis / 1_000)
  if (dateOfSecond.second !== second) {
    const date = DateTime.toDateUtc(DateTime.makeUnsafe(millis)).toUTCString()
    dateOfSecond = { second, field: `Date: ${date.replace("GMT", "+0000")}\r\n` }
  }
  return dateOfSecond.field
}

const addressField = (name: string, addresses: EmailAddress | ReadonlyArray<EmailAddress>): string => {
  if (typeof addresses === "string") return tokenField(name, [uri(addresses)])
  const last = addresses.length - 1
  return tokenField(name, addresses.map((address, index) => uri(address) + (index < last ? "," : "")))
}

const oneClick = "List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"

const unsubscribeFields = ({ mailto, url }: { readonly url: string; readonly mailto?: string | undefined }): string => {
  const ways = mailto === undefined ? [`<${uri(url)}>`] : [`<${uri(url)}>,`, `<mailto:${uri(mailto)}>`]
  return tokenField("List-Unsubscribe", ways) + oneClick
}

const messageIdField = (messageId: string): string =>
  tokenField("Message-ID", [`<${uri(messageId.replaceAll(/^<|>$/g, ""))}>`])

const letterFields = ({ cc = [], date, listUnsubscribe, messageId, subject, to }: Letter): string =>
  [
    addressField("To", to),
    cc.length === 0 ? "" : addressField("Cc", cc),
    textField("Subject", subject),
    messageIdField(messageId),
    dateField(date),
    listUnsubscribe === undefined ? "" : unsubscribeFields(listUnsubscribe)
  ].join("")

const senderFields = ({ feedbackId, from, headers = {}, replyTo }: Sender): string =>
  [
    mailboxField("From", from),
    replyTo === undefined ? "" : mailboxField("Reply-To", replyTo),
    feedbackId === undefined ? "" : textField("Feedback-ID", feedbackId),
    ...Object.entries(headers)
      .filter(([name]) => fieldName.test(name) && !reservedName.test(name))
      .map(([name, value]) => textField(name, value)),
    "MIME-Version: 1.0\r\n"
  ].join("")

// Messages are written here first, for their length is not known before; larger ones get a buffer of their own.
const scratch = Buffer.allocUnsafeSlow(262_144)

const write = (sections: ReadonlyArray<Section>): Buffer => {
  let bound = 0
  for (const section of sections) {
    bound += typeof section === "string" ? section.length : quotedPrintableBound(section.length)
  }
  const target = bound <= scratch.length ? scratch : Buffer.allocUnsafeSlow(bound)
  let at = 0
  for (const section of sections) {
    at = typeof section === "string"
      ? at + target.write(section, at, "latin1")
      : encodeQuotedPrintable(section, target, at)
  }
  return Buffer.from(target.subarray(0, at))
}

/**
 * A composer of the letters of one sender. Each is a whole RFC 5322 message: 7 bit, CRLF, no line over 998, dots not
 * stuffed. No value can add a field, a recipient or a part, whatever characters it has.
 */
export const prepare = (sender: Sender): (letter: Letter) => Buffer => {
  const common = senderFields(sender)
  return (letter) => {
    const { body, fields } = content(letter)
    return write([`${common}${letterFields(letter)}${fields}\r\n`, ...body, "\r\n"])
  }
}

/** One message. */
export const compose = (mail: Sender & Letter): Buffer => prepare(mail)(mail)
