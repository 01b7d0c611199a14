import { Effect } from "effect"
import PostalMime from "postal-mime"
import type { Address, Attachment, Email } from "postal-mime"

/** The headers that a list of mails needs. */
export interface MailHeaders {
  readonly sender: string
  readonly subject: string
  readonly messageId: string
}

/** An attachment, or a part that the page shows in no other place. */
export interface MailAttachment {
  readonly name: string
  readonly type: string
  readonly bytes: number
}

/** A parsed message. */
export interface ReadMail {
  readonly headers: ReadonlyArray<{ readonly name: string; readonly value: string }>
  readonly text: string | undefined
  /** Foreign markup: show it in a sandboxed frame only. It contains inline images as data: URLs. */
  readonly html: string | undefined
  readonly attachments: ReadonlyArray<MailAttachment>
}

// The inbox shows a message that the parser refuses (nested too deeply, headers too long) as its source.
const parse = (raw: Uint8Array) => Effect.option(Effect.tryPromise(() => PostalMime.parse(raw)))

const endOfHeaders = (raw: Uint8Array) => {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const ends = [bytes.indexOf("\r\n\r\n"), bytes.indexOf("\n\n")].filter((index) => index >= 0)
  return ends.length === 0 ? bytes.length : Math.min(...ends)
}

// Columns and lists need one line, and PostgreSQL stores no NUL.
// oxlint-disable-next-line no-control-regex
const line = (text: string) => text.replaceAll(/[\u0000-\u001f\u007f]+/g, " ").trim().slice(0, 500).toWellFormed()

const displayed = (address: Address | undefined) => {
  if (address === undefined) return ""
  if (address.address === undefined) return address.name
  return address.name === "" ? address.address : `${address.name} <${address.address}>`
}

/** Parses the header section only, so that a large body costs nothing. */
export const readHeaders = (raw: Uint8Array): Effect.Effect<MailHeaders> =>
  Effect.map(parse(raw.subarray(0, endOfHeaders(raw))), (parsed) => {
    const mail = parsed._tag === "Some" ? parsed.value : undefined
    return {
      sender: line(displayed(mail?.from)),
      subject: line(mail?.subject ?? ""),
      messageId: line(mail?.messageId ?? "")
    }
  })

const bytesOf = ({ content }: Attachment) =>
  typeof content === "string" ? Buffer.from(content) : Buffer.from(new Uint8Array(content))

const imageType = /^image\/(png|jpeg|gif|webp|avif|bmp)$/

/** Replaces references to inline images by Content-ID (RFC 2392), which browsers cannot load. */
const withInlineImages = ({ attachments, html }: Email): string | undefined =>
  html?.replaceAll(/(["'(])cid:([^"')\s]{1,200})/gi, (reference: string, open: string, id: string) => {
    const part = attachments.find(({ contentId }) => contentId === `<${id}>`)
    if (part === undefined || !imageType.test(part.mimeType)) return reference
    return `${open}data:${part.mimeType};base64,${bytesOf(part).toString("base64")}`
  })

/** Parses a message. */
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
