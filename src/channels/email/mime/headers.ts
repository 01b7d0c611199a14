import type { Mailbox } from "../request/Mailbox.ts"

/** RFC 5322 2.1.1 recommends lines of 78 characters; RFC 2047 2 allows 76 with encoded words. */
const lineWidth = 78
const encodedWidth = 76

/** A line may have 998 octets. A longer token is split, which RFC 2369 allows inside `<URL>`. */
const maxTokenLength = 900

/** A longer word is encoded, so that it can be folded. */
const maxPlainWordLength = 60

// oxlint-disable-next-line no-control-regex -- it replaces control characters
const control = /[\u0000-\u001f\u007f]/g

const plain = /^[!-~]+(?: [!-~]+)*$/

/** Folds a field before each token that would make a line too long. The tokens are visible ASCII. */
const fold = (name: string, tokens: ReadonlyArray<string>): string => {
  let field = `${name}:`
  let column = field.length
  for (const [index, token] of tokens.entries()) {
    if (index > 0 && column + 1 + token.length > lineWidth) {
      field += "\r\n"
      column = 0
    }
    field += token.length > maxTokenLength
      ? ` ${(token.match(/.{1,900}/g) ?? []).join("\r\n ")}`
      : ` ${token}`
    column += 1 + token.length
  }
  return `${field}${tokens.length === 0 ? " " : ""}\r\n`
}

/** Bytes that the Q encoding keeps in any field, also in display names (RFC 2047 5). */
const isSafe = (byte: number) =>
  (byte >= 48 && byte <= 57) || (byte >= 65 && byte <= 90) || (byte >= 97 && byte <= 122) || byte === 32
const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80

const q = (bytes: Buffer): string => {
  let text = ""
  for (const byte of bytes) {
    text += byte === 32
      ? "_"
      : isSafe(byte)
      ? String.fromCharCode(byte)
      : `=${byte.toString(16).toUpperCase().padStart(2, "0")}`
  }
  return text
}

/** Cuts between characters so that no piece costs more than `limit` (RFC 2047 5). */
const cut = (bytes: Buffer, costOf: (byte: number) => number, limit: number): ReadonlyArray<Buffer> => {
  const pieces: Array<Buffer> = []
  let start = 0
  let used = 0
  for (let i = 0; i < bytes.length;) {
    let cost = costOf(bytes[i] ?? 0)
    let next = i + 1
    for (; isContinuation(bytes[next]); next++) cost += costOf(bytes[next] ?? 0)
    if (used + cost > limit) {
      pieces.push(bytes.subarray(start, i))
      start = i
      used = 0
    }
    used += cost
    i = next
  }
  return [...pieces, bytes.subarray(start)]
}

/** RFC 2047 words in UTF-8, in the shorter of both encodings; a lone surrogate becomes U+FFFD. */
const encodedWords = (text: string, nameLength: number): ReadonlyArray<string> => {
  const bytes = Buffer.from(text, "utf8")
  let unsafe = 0
  for (const byte of bytes) if (!isSafe(byte)) unsafe++
  const room = Math.max(encodedWidth - nameLength - 2 - "=?UTF-8?Q?".length - "?=".length, 16)
  return bytes.length + 2 * unsafe <= Math.ceil(bytes.length / 3) * 4
    ? cut(bytes, (byte) => isSafe(byte) ? 1 : 3, room).map((piece) => `=?UTF-8?Q?${q(piece)}?=`)
    : cut(bytes, () => 1, Math.floor(room / 4) * 3).map((piece) => `=?UTF-8?B?${piece.toString("base64")}?=`)
}

const isPlain = (text: string) =>
  plain.test(text) && !text.includes("=?") && text.split(" ").every((word) => word.length <= maxPlainWordLength)

/**
 * A field of free text, such as Subject: plain if possible, else in encoded words that preserve every character, also
 * outer spaces. Control characters become spaces, so no value can begin another field.
 */
export const textField = (name: string, value: string): string => {
  const text = value.replaceAll(control, " ")
  if (text === "") return fold(name, [])
  return fold(name, isPlain(text) ? text.split(" ") : encodedWords(text, name.length))
}

/** A token for a structured field: characters that are not visible ASCII or would end it are percent-encoded. */
export const uri = (value: string): string =>
  /^[!-;=?-~]*$/.test(value) ? value : value.toWellFormed().replaceAll(/[^!-;=?-~]/gu, encodeURIComponent)

/** A field of visible-ASCII tokens: identifiers, addresses, `<URL>`s. */
export const tokenField = (name: string, tokens: ReadonlyArray<string>): string => fold(name, tokens)

const displayName = (text: string, nameLength: number): ReadonlyArray<string> =>
  isPlain(text) ? `"${text.replaceAll(/["\\]/g, "\\$&")}"`.split(" ") : encodedWords(text, nameLength)

/** A field with one mailbox, such as From. */
export const mailboxField = (name: string, mailbox: Mailbox): string => {
  const display = mailbox.name?.replaceAll(control, " ").trim() ?? ""
  return display === ""
    ? fold(name, [uri(mailbox.address)])
    : fold(name, [...displayName(display, name.length), `<${uri(mailbox.address)}>`])
}
