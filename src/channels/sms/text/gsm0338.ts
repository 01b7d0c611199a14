/**
 * The alphabet of GSM 03.38 (3GPP 23.038, 6.2.1): 127 characters by their septets. 0x1B is not a character: it escapes to
 * the extension table.
 */
const basic =
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞ\u001bÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"

const escape = 0x1b

/** Each character costs two septets: the escape and this one. */
const extension: ReadonlyArray<readonly [character: string, septet: number]> = [
  ["\f", 0x0a],
  ["^", 0x14],
  ["{", 0x28],
  ["}", 0x29],
  ["\\", 0x2f],
  ["[", 0x3c],
  ["~", 0x3d],
  ["]", 0x3e],
  ["|", 0x40],
  ["€", 0x65]
]

const septets = new Map<string, ReadonlyArray<number>>([
  ...Array.from(basic, (character, septet) => [character, [septet]] as const).filter(([, [septet]]) =>
    septet !== escape
  ),
  ...extension.map(([character, septet]) => [character, [escape, septet]] as const)
])

const characters: ReadonlyMap<number, string> = new Map(Array.from(basic, (character, septet) => [septet, character]))
const extended: ReadonlyMap<number, string> = new Map(extension.map(([character, septet]) => [septet, character]))

/** The septets of a character, one or two; undefined when the alphabet lacks it. */
export const septetsOf = (character: string): ReadonlyArray<number> | undefined => septets.get(character)

/** One octet for each septet, as in SMPP's default alphabet (data_coding 0); undefined when a character is not in it. */
export const encodeGsm = (text: string): Uint8Array | undefined => {
  const octets: Array<number> = []
  for (const character of text) {
    const found = septets.get(character)
    if (found === undefined) return undefined
    octets.push(...found)
  }
  return Uint8Array.from(octets)
}

/** The text of unpacked septets. It is total: an unknown escape is a space, as handsets show it (23.038, 6.2.1.1). */
export const decodeGsm = (octets: Uint8Array): string => {
  let text = ""
  for (let index = 0; index < octets.length; index++) {
    const octet = (octets[index] ?? 0) & 0x7f
    if (octet === escape) {
      index++
      text += extended.get((octets[index] ?? 0) & 0x7f) ?? " "
    } else {
      text += characters.get(octet) ?? " "
    }
  }
  return text
}
