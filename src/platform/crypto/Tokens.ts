import { hash as digest, randomBytes } from "node:crypto"
import { crc32 } from "node:zlib"

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** Uniform base62 text: bytes above the last multiple of 62 are discarded. */
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

/** `<prefix>` + 32 random base62 + 6 base62 of their CRC-32, so that a typo is detected without a look-up. */
export const mint = (prefix: string): string => {
  const body = randomBase62(32)
  return `${prefix}${body}${checksum(body)}`
}

/** Whether a token has the form of {@link mint}, with a valid checksum. */
export const isWellFormed = (prefix: string, token: string): boolean => {
  const body = token.slice(prefix.length, -6)
  return token.startsWith(prefix) && token.length === prefix.length + 38 && checksum(body) === token.slice(-6)
}

/** The stored form of a token. A token has 190 random bits, so a plain SHA-256 cannot be reversed by search. */
export const hash = (token: string): Uint8Array => digest("sha256", token, "buffer")
