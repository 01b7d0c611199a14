import { Effect } from "effect"
import type { Address, Attachment, Email } from "postal-mime"

/** What lists show of a mail, and what a search finds in it. */
export interface MailWords {
  readonly sender: string
  readonly subject: string
  /** Its headers and text in lower case. */
  readonly search: string
  readonly attachmentCount: number
}

/** An attachment, or a part that the page shows in no other place. */
export interface MailAttachment {
  readonly name: string
  readonly type: string
  readonly content: Uint8Array
}

/** A parsed message. */
export interface ReadMail {
  readonly headers: ReadonlyArray<{ readonly name: string; readonly value: string }>
  readonly text: string | undefined
  /** Foreign markup: show it in a sandboxed frame only. It contains inline images as data: URLs. */
  readonly html: string | undefined
  /** The addresses of the web and of mail that it links to, each once. */
  readonly links: ReadonlyArray<string>
  readonly attachments: ReadonlyArray<MailAttachment>
}

// The inbox shows a message that the parser refuses (nested too deeply, headers too long) as its source.
const parse = (raw: Uint8Array) =>
  Effect.option(Effect.tryPromise(async () => {
    const { decodeWords, default: PostalMime } = await import("postal-mime")
    const mail = await PostalMime.parse(raw)
    const headers = mail.headers.map(({ originalKey, value }) => ({ name: originalKey, value: decodeWords(value) }))
    return { ...mail, headers }
  }))

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

/** Parses the header section only, so that a large body costs nothing. Returns the Message-ID. */
export const readMessageId = (raw: Uint8Array): Effect.Effect<string> =>
  Effect.map(
    parse(raw.subarray(0, endOfHeaders(raw))),
    (parsed) => line(parsed._tag === "Some" ? parsed.value.messageId ?? "" : "")
  )

/** The start of a message that a search covers: texts stand before attachments. */
const searchedBytes = 256 * 1024

const searchedCharacters = 100_000

/** The tags of markup become blanks. */
const withoutTags = (html: string) =>
  html.replaceAll(/<[^<>]*>/g, " ").replaceAll("&nbsp;", " ").replaceAll("&amp;", "&")

/** Reads what lists and searches need, from the start of a message. */
export const readWords = (raw: Uint8Array): Effect.Effect<MailWords> =>
  Effect.map(parse(raw.subarray(0, searchedBytes)), (parsed) => {
    if (parsed._tag === "None") return { sender: "", subject: "", search: "", attachmentCount: 0 }
    const { attachments, from, headers, html = "", subject = "", text = withoutTags(html) } = parsed.value
    const fields = headers.map(({ name, value }) => `${name}: ${value}`)
    const words = [...fields, text].join("\n").slice(0, searchedCharacters)
    return {
      sender: line(displayed(from)),
      subject: line(subject),
      search: words.replaceAll("\u0000", " ").replaceAll(/\s+/g, " ").toLowerCase().toWellFormed(),
      attachmentCount: attachments.filter(isListed).length
    }
  })

/** A part that the markup does not show. */
const isListed = ({ related }: Attachment) => related !== true

const bytesOf = ({ content }: Attachment) =>
  typeof content === "string" ? Buffer.from(content) : Buffer.from(new Uint8Array(content))

const imageType = /^image\/(png|jpeg|gif|webp|avif|bmp)$/

/** Replaces references to inline images by Content-ID (RFC 2392), which browsers cannot load. */
const withInlineImages = ({ attachments, html }: Pick<Email, "attachments" | "html">): string | undefined =>
  html?.replaceAll(/(["'(])cid:([^"')\s]{1,200})/gi, (reference: string, open: string, id: string) => {
    const part = attachments.find(({ contentId }) => contentId === `<${id}>`)
    if (part === undefined || !imageType.test(part.mimeType)) return reference
    return `${open}data:${part.mimeType};base64,${bytesOf(part).toString("base64")}`
  })

const attributes = /\bhref\s{0,9}=\s{0,9}(?:"([^"<>]{1,4000})"|'([^'<>]{1,4000})')/gi
const addresses = /\bhttps?:\/\/[^\s<>"'`]{1,4000}/gi

/** As many links as a person looks at. */
const maxLinks = 500

const linksIn = ({ html = "", text = "" }: Pick<Email, "html" | "text">): ReadonlyArray<string> => {
  const inMarkup = html.matchAll(attributes).map(([, double = "", single = ""]) =>
    (double + single).replaceAll("&amp;", "&").replaceAll("&#38;", "&").trim()
  ).filter((url) => /^(https?:\/\/|mailto:)/i.test(url))
  const inText = text.matchAll(addresses).map(([url]) => url.replace(/[.,;:!?)\]}]+$/, ""))
  const links = new Set<string>()
  for (const url of [...inMarkup, ...inText]) {
    if (links.size >= maxLinks) break
    links.add(url)
  }
  return [...links]
}

/** Parses a message. */
export const readMail = (raw: Uint8Array): Effect.Effect<ReadMail> =>
  Effect.map(parse(raw), (parsed) => {
    if (parsed._tag === "None") return { headers: [], text: undefined, html: undefined, links: [], attachments: [] }
    const mail = parsed.value
    return {
      headers: mail.headers,
      text: mail.text,
      html: withInlineImages(mail),
      links: linksIn(mail),
      attachments: mail.attachments.filter(isListed).map((part) => ({
        name: part.filename ?? part.mimeType,
        type: part.mimeType,
        content: bytesOf(part)
      }))
    }
  })
