import { DateTime } from "effect"
import { domainOf, type EmailAddress } from "../../../values/EmailAddress.ts"
import { isMediaType } from "../../../values/mediaTypes.ts"
import type { Mailbox } from "../request/Mailbox.ts"
import { mailboxField, textField, tokenField, uri } from "./headers.ts"
import { encodeQuotedPrintable, quotedPrintableBound } from "./quotedPrintable.ts"

/** A file attached to a message. */
export interface Attachment {
  readonly filename: string
  readonly content: Uint8Array
  /** `type/subtype`; any other text becomes application/octet-stream. */
  readonly content_type: string
}

/** The parts that all messages of a batch share. */
export interface Sender {
  readonly from: Mailbox
  readonly replyTo?: Mailbox | undefined
  /** Gmail's Feedback-ID: up to four parts with colons, the last one the service. */
  readonly feedbackId?: string | undefined
  /** Further fields. Invalid names, and names that the composer or a relay sets, are left out. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** The parts that each message has for itself. */
export interface Letter {
  readonly to: EmailAddress | ReadonlyArray<EmailAddress>
  readonly cc?: ReadonlyArray<EmailAddress> | undefined
  readonly subject: string
  readonly html?: string | undefined
  readonly text?: string | undefined
  /** `id@domain`, with or without its angle brackets. */
  readonly messageId: string
  /** Epoch milliseconds. The same letter always gives the same bytes, so that a retry is identical. */
  readonly date: number
  /** One-click unsubscription (RFC 8058); `mailto` is an address, with `?subject=` or without. */
  readonly listUnsubscribe?: { readonly url: string; readonly mailto?: string | undefined } | undefined
  readonly attachments?: ReadonlyArray<Attachment> | undefined
}

/** Text that is written unchanged, or bytes that are written as quoted-printable. */
type Section = string | Buffer

interface Entity {
  /** The Content fields, each with its line end. */
  readonly fields: string
  readonly body: ReadonlyArray<Section>
}

// Quoted-printable and base64 never contain `=_` (RFC 2045 6.7), so no content can end a part.
const alternative = "=_alternative"
const mixed = "=_mixed"

const fieldName = /^[A-Za-z][A-Za-z0-9-]{0,75}$/

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

// Types of containers, and types that must not be base64 (RFC 2045 6.4).
const composite = /^(?:multipart|message)\//i

const simpleName = /^[\w.-][\w .-]{0,58}[\w.-]$/

// oxlint-disable-next-line no-control-regex -- it removes control characters
const notInFilenames = /[\u0000-\u001f\u007f/\\]/g

/** The filename parameter. A long or non-ASCII name is split into several lines (RFC 2231). */
const filenameParameter = (filename: string): string => {
  const name = filename.toWellFormed().replaceAll(notInFilenames, "_")
  if (simpleName.test(name)) return `filename="${name}"`
  const encoded = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  )
  const pieces = encoded.match(/(?:%[0-9A-F]{2}|[^%]){1,18}/g) ?? [""]
  return pieces.map((piece, index) => `filename*${index}*=${index === 0 ? "UTF-8''" : ""}${piece}`).join(";\r\n ")
}

/** The file in base64, in lines of 76 without a line end after the last. */
const attachmentPart = ({ content, content_type, filename }: Attachment): Entity => {
  const type = isMediaType(content_type) && !composite.test(content_type) ? content_type : "application/octet-stream"
  const base64 = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString("base64")
  return {
    fields: [
      `Content-Type: ${type}`,
      "Content-Transfer-Encoding: base64",
      `Content-Disposition: attachment;\r\n ${filenameParameter(filename)}\r\n`
    ].join("\r\n"),
    body: [(base64.match(/.{1,76}/g) ?? []).join("\r\n")]
  }
}

const content = (letter: Letter): Entity => {
  const files = letter.attachments ?? []
  if (files.length === 0) return texts(letter)
  return multipart("mixed", mixed, [texts(letter), ...files.map(attachmentPart)])
}

let dateOfSecond = { second: Number.NaN, field: "" }

/** The Date field, formatted once for all letters of a second. */
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

/**
 * The Message-ID of a letter from `from`. `unique` is the same at each attempt. Complaints identify the message by the token
 * before it; copies that share a Message-ID have none.
 */
export const messageIdOf = ({ from, token, unique }: {
  readonly from: string
  readonly token: string | undefined
  readonly unique: string
}): string => `<${token === undefined ? "" : `${token}.`}${unique}@${domainOf(from)}>`

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

/** Programs read these fields, so their plain words stay as they are, up to 900 characters. Several spaces become one. */
const furtherField = (name: string, value: string): string => {
  const text = value.replaceAll("\t", " ").trim()
  return /^[ -~]+$/.test(text) && !text.includes("=?") ? tokenField(name, text.split(/ +/)) : textField(name, text)
}

const senderFields = ({ feedbackId, from, headers = {}, replyTo }: Sender): string =>
  [
    mailboxField("From", from),
    replyTo === undefined ? "" : mailboxField("Reply-To", replyTo),
    feedbackId === undefined ? "" : furtherField("Feedback-ID", feedbackId),
    ...Object.entries(headers)
      .filter(([name]) => fieldName.test(name) && !reservedName.test(name))
      .map(([name, value]) => furtherField(name, value)),
    "MIME-Version: 1.0\r\n"
  ].join("")

// Messages are written here first, because their length is unknown. A larger one gets a separate buffer.
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
 * A composer for the letters of one sender. Each result is a complete RFC 5322 message: 7 bit, CRLF, no line over 998
 * characters, not dot-stuffed. No value can add a field, a recipient or a part, whatever characters it contains.
 */
export const prepare = (sender: Sender): (letter: Letter) => Buffer => {
  const common = senderFields(sender)
  return (letter) => {
    const { body, fields } = content(letter)
    return write([`${common}${letterFields(letter)}${fields}\r\n`, ...body, "\r\n"])
  }
}

/** Composes one message. */
export const compose = (mail: Sender & Letter): Buffer => prepare(mail)(mail)
