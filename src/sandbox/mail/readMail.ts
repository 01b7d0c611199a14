import { Effect } from "effect"
import PostalMime from "postal-mime"
import type { Address, Attachment, Email } from "postal-mime"

/** The headers an inbox shows in a list. */
export interface MailHeaders {
  readonly sender: string
  readonly subject: string
  readonly messageId: string
}

/** An attachment by name, or a part that is shown nowhere else. */
export interface MailAttachment {
  readonly name: string
  readonly type: string
  readonly bytes: number
}

/** A message taken apart for display. */
export interface ReadMail {
  readonly headers: ReadonlyArray<{ readonly name: string; readonly value: string }>
  readonly text: string | undefined
  /** The message's own HTML, foreign markup: only for a sandboxed frame. Inline images are in it as data: URLs. */
  readonly html: string | undefined
  readonly attachments: ReadonlyArray<MailAttachment>
}

// A message the parser refuses (nested too deeply, headers too long) still is in the inbox, as its source.
const parse = (raw: Uint8Array) => Effect.option(Effect.tryPromise(() => PostalMime.parse(raw)))

const endOfHeaders = (raw: Uint8Array) => {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const ends = [bytes.indexOf("\r\n\r\n"), bytes.indexOf("\n\n")].filter((index) => index >= 0)
  return ends.length === 0 ? bytes.length : Math.min(...ends)
}

// Columns and lists want one line, and PostgreSQL has no NUL.
// oxlint-disable-next-line no-control-regex
const line = (text: string) => text.replaceAll(/[\u0000-\u001f\u007f]+/g, " ").trim().slice(0, 500).toWellFormed()

const written = (address: Address | undefined) => {
  if (address === undefined) return ""
  if (address.address === undefined) return address.name
  return address.name === "" ? address.address : `${address.name} <${address.address}>`
}

/** Reads what a list needs; only the header section is parsed, so that a large body costs nothing. */
export const readHeaders = (raw: Uint8Array): Effect.Effect<MailHeaders> =>
  Effect.map(parse(raw.subarray(0, endOfHeaders(raw))), (parsed) => {
    const mail = parsed._tag === "Some" ? parsed.value : undefined
    return {
      sender: line(written(mail?.from)),
      subject: line(mail?.subject ?? ""),
      messageId: line(mail?.messageId ?? "")
    }
  })

const bytesOf = ({ content }: Attachment) =>
  typeof content === "string" ? Buffer.from(content) : Buffer.from(new Uint8Array(content))

const imageType = /^image\/(png|jpeg|gif|webp|avif|bmp)$/

/** Inline images are referred to by Content-ID (RFC 2392), which no browser can load. */
const withInlineImages = ({ attachments, html }: Email): string | undefined =>
  html?.replaceAll(/(["'(])cid:([^"')\s]{1,200})/gi, (reference: string, open: string, id: string) => {
    const part = attachments.find(({ contentId }) => contentId === `<${id}>`)
    if (part === undefined || !imageType.test(part.mimeType)) return reference
    return `${open}data:${part.mimeType};base64,${bytesOf(part).toString("base64")}`
  })

/** Takes a message apart. */
export const readMail = (raw: Uint8Array): Effect.Effect<ReadMail> =>
  Effect.map(parse(raw), (parsed) => {
    if (parsed._tag === "None") return { headers: [], text: undefined, html: undefined, attachments: [] }
    const mail = parsed.value
    return {
      headers: mail.headers.map(({ originalKey, value }) => ({ name: originalKey, value })),
      text: mail.text,
      html: withInlineImages(mail),
      attachments: mail.attachments.filter(({ related }) => related !== true).map((part) => ({
        name: part.filename ?? part.mimeType,
        type: part.mimeType,
        bytes: bytesOf(part).length
      }))
    }
  })
