import { septetsOf } from "./gsm0338.ts"

/** `gsm7`: the alphabet of GSM 03.38. `ucs2`: UTF-16, for every text that has a character outside it. */
export type Encoding = "gsm7" | "ucs2"

/** A text as it is sent: one part, or several that the handset puts together again. */
export interface Segmented {
  readonly encoding: Encoding
  /** Septets or UTF-16 units of the whole. */
  readonly units: number
  /** The text of each segment, at least one. */
  readonly parts: ReadonlyArray<string>
}

/** What one message holds, and what a segment of several holds beside its header of six octets (spec 8). */
const sizes = { gsm7: { alone: 160, shared: 153 }, ucs2: { alone: 70, shared: 67 } } as const

/** The longest text, in characters as JSON clients count them. */
export const longestText = 1_600

/** The most segments of one message. */
export const mostSegments = 10

const costOf = (encoding: Encoding, character: string) =>
  encoding === "gsm7" ? septetsOf(character)?.length ?? 0 : character.length

/**
 * Cuts a text into segments, each filled as far as whole characters go: an escape and its septet, or the two halves of
 * a surrogate pair, are never torn apart. So a count is never a division: 152 letters and a € leave a septet unused.
 */
export const segment = (text: string): Segmented => {
  const characters = Array.from(text)
  const encoding = characters.every((character) => septetsOf(character) !== undefined) ? "gsm7" : "ucs2"
  const units = characters.reduce((sum, character) => sum + costOf(encoding, character), 0)
  if (units <= sizes[encoding].alone) return { encoding, units, parts: [text] }
  const parts: Array<string> = []
  let part = ""
  let used = 0
  for (const character of characters) {
    const cost = costOf(encoding, character)
    if (used + cost > sizes[encoding].shared) {
      parts.push(part)
      part = ""
      used = 0
    }
    part += character
    used += cost
  }
  return { encoding, units, parts: [...parts, part] }
}
