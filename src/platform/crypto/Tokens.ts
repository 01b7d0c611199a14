import { createHash, randomBytes } from "node:crypto"
import { crc32 } from "node:zlib"

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** Uniform base62 text: bytes past the last whole multiple of 62 are thrown away. */
const randomBase62 = (length: number): string => {
  let text = ""
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += alphabet[byte % 62]
    }
  }
  return text
}

const checksum = (body: string): string => {
  let value = crc32(body)
  let text = ""
  for (let i = 0; i < 6; i++) {
    text = alphabet[value % 62] + text
    value = Math.floor(value / 62)
  }
  return text
}

/** `<prefix>` + 32 random base62 + 6 base62 of the CRC-32 over those, so that a typo is told without a look-up. */
export const mint = (prefix: string): string => {
  const body = randomBase62(32)
  return `${prefix}${body}${checksum(body)}`
}

/** Whether a token has the form that {@link mint} gives, checksum and all. */
export const isWellFormed = (prefix: string, token: string): boolean => {
  const body = token.slice(prefix.length, -6)
  return token.startsWith(prefix) && token.length === prefix.length + 38 && checksum(body) === token.slice(-6)
}

/** What is stored of a token: with 190 random bits behind it, a plain SHA-256 cannot be searched back. */
export const hash = (token: string): Uint8Array => createHash("sha256").update(token).digest()
