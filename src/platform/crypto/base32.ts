const alphabet = "abcdefghijklmnopqrstuvwxyz234567"

/** RFC 4648 base32 in lower case. The number of bytes must be a multiple of five: no padding and no unused bits. */
export const encodeBase32 = (bytes: Uint8Array): string => {
  let text = ""
  let bits = 0
  let pending = 0
  for (const byte of bytes) {
    pending = (pending << 8) | byte
    for (bits += 8; bits >= 5; bits -= 5) text += alphabet[(pending >> (bits - 5)) & 31]
    pending &= (1 << bits) - 1
  }
  return text
}

/** Decodes {@link encodeBase32} in either case of letters; undefined for any other text. */
export const decodeBase32 = (text: string): Uint8Array | undefined => {
  if (text.length % 8 !== 0 || !/^[a-z2-7]*$/i.test(text)) return undefined
  const bytes = new Uint8Array(text.length / 8 * 5)
  let bits = 0
  let pending = 0
  let at = 0
  for (const character of text.toLowerCase()) {
    pending = (pending << 5) | alphabet.indexOf(character)
    bits += 5
    if (bits < 8) continue
    bits -= 8
    bytes[at++] = pending >> bits
    pending &= (1 << bits) - 1
  }
  return bytes
}
