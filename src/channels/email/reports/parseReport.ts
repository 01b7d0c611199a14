/**
 * Parses reports from untrusted senders. Every function is total and takes time in proportion to the bytes, which
 * general MIME parsers do not guarantee.
 */
import type { Report, ReportedRecipient } from "./Report.ts"

/** Header fields by name in lower case, each with its values in order, unfolded and trimmed. */
export type Fields = ReadonlyMap<string, ReadonlyArray<string>>

/** A longer value is not an address, a status or a mail server's reply. */
const maxValueLength = 4_096

/** Header sections and reports are shorter; the rest of a longer one is ignored. */
const maxSectionLength = 262_144

/** A report has three parts (RFC 6522). */
const maxParts = 20

/** Far more than a mail server writes about one message to one recipient. */
const maxRecipients = 1_000

/** An address with its type and a comment. */
const maxAddressLength = 512

const maxHints = 20

const noFields: Fields = new Map()

const field = /^([!-9;-~]{1,78})[ \t]*:(.*)$/

const addField = (group: Map<string, Array<string>>, line: string) => {
  const [, name, value] = field.exec(line) ?? []
  if (name === undefined || value === undefined) return
  const values = group.get(name.toLowerCase())
  if (values === undefined) group.set(name.toLowerCase(), [value.trim()])
  else values.push(value.trim())
}

/**
 * Groups of fields separated by blank lines, as in message/delivery-status (RFC 3464 2.1). Lines end with CRLF or LF.
 * Invalid lines and empty groups are skipped.
 */
export const parseFields = (text: string): ReadonlyArray<Fields> => {
  const groups: Array<Fields> = []
  let group = new Map<string, Array<string>>()
  let pending = ""
  const close = () => {
    addField(group, pending)
    pending = ""
    if (group.size > 0) groups.push(group)
    group = new Map()
  }
  for (const line of text.split(/\r?\n|\r/)) {
    if (line.trim() === "") close()
    else if (!/^[ \t]/.test(line)) {
      addField(group, pending)
      pending = line.slice(0, maxValueLength)
    } else if (pending !== "" && pending.length < maxValueLength) pending += ` ${line.trim().slice(0, maxValueLength)}`
  }
  close()
  return groups
}

const firstGroup = (text: string): Fields => parseFields(text.slice(0, maxSectionLength))[0] ?? noFields

/** The first value of a field, empty when there is none. */
const first = (fields: Fields, name: string): string => fields.get(name)?.[0] ?? ""

/** One decoded part of a multipart message. */
interface Part {
  /** In lower case, without parameters. */
  readonly type: string
  readonly text: string
}

const typeOf = (fields: Fields) =>
  /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+/.exec(first(fields, "content-type"))?.[0].toLowerCase() ?? "text/plain"

const boundaryOf = (fields: Fields) => {
  const [, quoted, plain] =
    /;\s*boundary\s*=\s*(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(first(fields, "content-type"))
      ?? []
  return quoted ?? plain
}

/** Splits a message or a part into header section and body; the line between them may end with CRLF or LF. */
const splitHead = (text: string): readonly [fields: Fields, body: string] => {
  if (/^\r?\n/.test(text)) return [noFields, text.slice(text.indexOf("\n") + 1)]
  const end = /\r?\n\r?\n/.exec(text)
  return end === null
    ? [firstGroup(text), ""]
    : [firstGroup(text.slice(0, end.index)), text.slice(end.index + end[0].length)]
}

const decodeQuotedPrintable = (text: string) =>
  text.replaceAll(/=[ \t]*\r?\n/g, "").replaceAll(
    /=([0-9a-f]{2})/gi,
    (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))
  )

const partOf = (text: string): Part => {
  const [fields, body] = splitHead(text)
  const encoding = first(fields, "content-transfer-encoding").toLowerCase()
  const bytes = encoding === "base64"
    ? Buffer.from(body, "base64")
    : Buffer.from(encoding === "quoted-printable" ? decodeQuotedPrintable(body) : body, "latin1")
  return { type: typeOf(fields), text: bytes.toString("utf8") }
}

/** The texts between the delimiter lines (RFC 2046 5.1.1); the last part may be truncated. */
const splitParts = (body: string, boundary: string): ReadonlyArray<string> => {
  const delimiter = `--${boundary}`
  const parts: Array<string> = []
  let start = -1
  for (let at = body.indexOf(delimiter); at >= 0; at = body.indexOf(delimiter, at + delimiter.length)) {
    const rest = body.slice(at + delimiter.length, at + delimiter.length + 80)
    const line = /^(--)?[ \t]*(\r?\n|$)/.exec(rest)
    if (line === null || (at > 0 && body[at - 1] !== "\n")) continue
    if (start >= 0) parts.push(body.slice(start, at).replace(/\r?\n$/, ""))
    start = at + delimiter.length + line[0].length
    if (line[1] !== undefined || parts.length >= maxParts) return parts
  }
  return start < 0 ? parts : [...parts, body.slice(start)]
}

const keyword = (value: string) => /^[\w-]+/.exec(value)?.[0].toLowerCase() ?? ""

// RFC 3461 4: `+2B` in an ORCPT means a plus sign. Some servers pass it on undecoded.
const decodeXtext = (text: string) =>
  text.replaceAll(/\+([0-9A-F]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))

/** `rfc822; <Ada@example.com> (comment)`, in any case, with or without the type. */
const addressesOf = (value: string): ReadonlyArray<string> => {
  const address = value.slice(0, maxAddressLength).replace(/^\s*[\w-]+\s*;/, "").replace(/\([^)]*\)\s*$/, "").trim()
    .replaceAll(/^<|>$/g, "")
  if (address === "") return []
  const plain = address.toLowerCase()
  return [...new Set([plain, decodeXtext(plain)])]
}

const recipientOf = (fields: Fields): ReportedRecipient => {
  const action = keyword(first(fields, "action"))
  const original = addressesOf(first(fields, "original-recipient"))
  const final = addressesOf(first(fields, "final-recipient"))
  // The name of a local account is not an address.
  const complete = final.filter((address) => address.includes("@"))
  return {
    action: action === "failed" || action === "delivered" || action === "delayed" ? action : "other",
    status: /^[245]\.\d{1,3}\.\d{1,3}(?!\d)/.exec(first(fields, "status"))?.[0],
    diagnostic: first(fields, "diagnostic-code"),
    addresses: [...original, ...final],
    finalAddresses: complete.length > 0 ? complete : original
  }
}

/** A part message/delivery-status. Each group with an action is about one recipient, in any order. */
export const readDeliveryStatus = (text: string): Report => ({
  _tag: "Delivery",
  recipients: parseFields(text.slice(0, maxSectionLength)).filter((fields) => fields.has("action"))
    .slice(0, maxRecipients).map(recipientOf)
})

/** The fields of our mails that contain a token. */
const tokenFields = ["return-path", "x-recipient-token", "message-id", "list-unsubscribe"]

/** A part message/feedback-report, with the message or the header section that it is about. */
const readFeedback = (report: string, original: string): Report => {
  const fields = firstGroup(report)
  const headers = firstGroup(original)
  return {
    _tag: "Feedback",
    type: keyword(first(fields, "feedback-type")),
    hints: [
      ...(fields.get("original-mail-from") ?? []),
      ...tokenFields.flatMap((name) => headers.get(name) ?? [])
    ].slice(0, maxHints)
  }
}

const none: Report = { _tag: "None" }

const statusType = /^message\/(?:global-)?delivery-status$/
const feedbackType = /^message\/feedback-report$/
const originalType = /^(?:message\/(?:rfc822|global)(?:-headers)?|text\/rfc822-headers)$/

/**
 * Parses a mail as a delivery report or a complaint; any other mail is `None`. Only a mail whose own type is
 * multipart/report counts (RFC 6522): an automatic reply may quote a report, and a returned message may contain one.
 */
export const parseReport = (raw: Uint8Array): Report => {
  // One character for each byte; each part decodes its own bytes.
  const [fields, body] = splitHead(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString("latin1"))
  if (typeOf(fields) !== "multipart/report") return none
  const boundary = boundaryOf(fields)
  const parts = boundary === undefined ? [] : splitParts(body, boundary).map(partOf)
  const textOf = (wanted: RegExp) => parts.find((part) => wanted.test(part.type))?.text
  const status = textOf(statusType)
  if (status !== undefined) return readDeliveryStatus(status)
  const complaint = textOf(feedbackType)
  return complaint === undefined ? none : readFeedback(complaint, textOf(originalType) ?? "")
}
