import { type Fields, first, parseFields } from "./fields.ts"

/** One part of a multipart message, decoded. */
export interface Part {
  /** In lower case, without parameters. */
  readonly type: string
  readonly text: string
}

/** A message as far as it consists of parts. */
export interface Parted {
  readonly type: string
  readonly parts: ReadonlyArray<Part>
}

/** A report has three (RFC 6522). */
const mostParts = 20

/** Header sections and fields are told in their first part; what is longer says nothing that is looked for. */
const longestHeaders = 262_144

const none: Fields = new Map()

const typeOf = (fields: Fields) =>
  /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+/.exec(first(fields, "content-type"))?.[0].toLowerCase()

const boundaryOf = (fields: Fields) => {
  const [, quoted, plain] =
    /;\s*boundary\s*=\s*(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(first(fields, "content-type"))
      ?? []
  return quoted ?? plain
}

/** Header section and body of a message or a part; the line between them may end with CRLF or LF. */
const sections = (text: string): readonly [fields: Fields, body: string] => {
  if (/^\r?\n/.test(text)) return [none, text.slice(text.indexOf("\n") + 1)]
  const end = /\r?\n\r?\n/.exec(text)
  const headers = end === null ? text : text.slice(0, end.index)
  return [
    parseFields(headers.slice(0, longestHeaders))[0] ?? none,
    end === null ? "" : text.slice(end.index + end[0].length)
  ]
}

const decodeQuotedPrintable = (text: string) =>
  text.replaceAll(/=[ \t]*\r?\n/g, "").replaceAll(
    /=([0-9a-f]{2})/gi,
    (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))
  )

const partOf = (text: string): Part => {
  const [fields, body] = sections(text)
  const encoding = first(fields, "content-transfer-encoding").toLowerCase()
  const bytes = encoding === "base64"
    ? Buffer.from(body, "base64")
    : Buffer.from(encoding === "quoted-printable" ? decodeQuotedPrintable(body) : body, "latin1")
  return { type: typeOf(fields) ?? "text/plain", text: bytes.toString("utf8") }
}

/** What stands between the delimiter lines (RFC 2046 5.1.1); the last part may have broken off. */
const split = (body: string, boundary: string): ReadonlyArray<string> => {
  const delimiter = `--${boundary}`
  const parts: Array<string> = []
  let start = -1
  for (let at = body.indexOf(delimiter); at >= 0; at = body.indexOf(delimiter, at + delimiter.length)) {
    const rest = body.slice(at + delimiter.length, at + delimiter.length + 80)
    const line = /^(--)?[ \t]*(\r?\n|$)/.exec(rest)
    if (line === null || (at > 0 && body[at - 1] !== "\n")) continue
    if (start >= 0) parts.push(body.slice(start, at).replace(/\r?\n$/, ""))
    start = at + delimiter.length + line[0].length
    if (line[1] !== undefined || parts.length >= mostParts) return parts
  }
  return start < 0 ? parts : [...parts, body.slice(start)]
}

/**
 * The parts of a multipart message, those of parts not looked into. It reads reports from anybody, so it is total and
 * takes time in proportion to the bytes, which general MIME parsers do not promise.
 */
export const readParts = (raw: Uint8Array): Parted => {
  // One character for each byte; a part knows what its bytes mean.
  const [fields, body] = sections(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString("latin1"))
  const boundary = boundaryOf(fields)
  return {
    type: typeOf(fields) ?? "text/plain",
    parts: boundary === undefined ? [] : split(body, boundary).map(partOf)
  }
}
