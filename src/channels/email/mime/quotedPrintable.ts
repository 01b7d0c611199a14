const lf = 10
const cr = 13
const equals = 61

/** Characters before a soft line break: RFC 2045 allows 76 with the `=` that makes it. */
const width = 75

const hex = Buffer.from("0123456789ABCDEF", "latin1")

// The kinds of bytes; all others are escaped.
const escaped = 0
const literal = 1
const space = 2
const lineBreak = 3

const kinds = new Uint8Array(256).fill(literal, 33, 127)
kinds[equals] = escaped
for (const byte of [9, 32]) kinds[byte] = space
for (const byte of [cr, lf]) kinds[byte] = lineBreak

/** Whether white space is at the end of a line or of the text. */
const endsLine = (source: Uint8Array, i: number): boolean =>
  i + 1 === source.length || kinds[source[i + 1] ?? 0] === lineBreak

const writeByte = (target: Buffer, at: number, byte: number): number => {
  target[at] = byte
  return at + 1
}

const writeEscape = (target: Buffer, at: number, byte: number): number => {
  target[at] = equals
  target[at + 1] = hex[byte >> 4] ?? 0
  target[at + 2] = hex[byte & 15] ?? 0
  return at + 3
}

/** The most bytes that {@link encodeQuotedPrintable} writes for `length` bytes of UTF-8. */
export const quotedPrintableBound = (length: number): number => Math.ceil(length * 3.2) + 8

/**
 * Writes UTF-8 bytes as quoted-printable (RFC 2045 6.7) and returns the end position. Line ends of any kind become CRLF,
 * no line is longer than 76, and none ends with white space, so that no relay changes the bytes and breaks the signature.
 * `target` must have room for {@link quotedPrintableBound} from `start` on.
 */
export const encodeQuotedPrintable = (source: Uint8Array, target: Buffer, start: number): number => {
  let at = start
  let room = width
  for (let i = 0; i < source.length; i++) {
    const byte = source[i] ?? 0
    const kind = kinds[byte]
    if (kind === literal && room > 0) {
      target[at++] = byte
      room--
    } else if (kind === lineBreak) {
      if (byte === cr && source[i + 1] === lf) i++
      target[at++] = cr
      target[at++] = lf
      room = width
    } else {
      const isLiteral = kind === literal || (kind === space && !endsLine(source, i))
      if (room < (isLiteral ? 1 : 3)) {
        target[at++] = equals
        target[at++] = cr
        target[at++] = lf
        room = width
      }
      at = isLiteral ? writeByte(target, at, byte) : writeEscape(target, at, byte)
      room -= isLiteral ? 1 : 3
    }
  }
  return at
}
