import { Schema } from "effect"
import { PhoneNumber } from "../../../values/PhoneNumber.ts"
import { Text } from "../../../values/Text.ts"
import { septetsOf } from "./gsm0338.ts"

/** The address field of GSM holds eleven characters (3GPP 23.040, 9.1.2.5); a name without a letter is a number. */
const name = /^(?=.*[A-Za-z])[A-Za-z0-9](?:[A-Za-z0-9 &._-]{1,9}[A-Za-z0-9])$/

const isSenderId = (text: string) => name.test(text) || Schema.is(PhoneNumber)(text) || /^\d{3,8}$/.test(text)

/** The sender that an SMS shows: a name of 3 to 11 letters and digits, a number, or a short code. */
export const SenderId = Text.check(
  Schema.makeFilter(
    (text: string) =>
      isSenderId(text)
        ? undefined
        : "must be a name of 3 to 11 letters and digits with at least one letter, a number such as +250788123456, or a short code of 3 to 8 digits",
    {
      toJsonSchema: () => ({
        minLength: 3,
        maxLength: 16,
        pattern: "^(?:\\+[0-9]+|[A-Za-z0-9][A-Za-z0-9 &._-]{1,9}[A-Za-z0-9])$"
      })
    }
  )
).annotate({ description: "A name of 3 to 11 characters, a number in E.164, or a short code" })

/** The type of a sender id. */
export const senderIdType = (id: string): "alphanumeric" | "number" | "short_code" =>
  id.startsWith("+") ? "number" : /^\d+$/.test(id) ? "short_code" : "alphanumeric"

/** `gsm7`: the alphabet of GSM 03.38. `ucs2`: UTF-16, for a text with any character outside that alphabet. */
export type Encoding = "gsm7" | "ucs2"

/** A text as it is sent: one part, or several that the handset joins. */
export interface Segmented {
  readonly encoding: Encoding
  /** Septets or UTF-16 units of the whole text. */
  readonly units: number
  /** The text of each segment, at least one. */
  readonly parts: ReadonlyArray<string>
}

/** The capacity of a single segment, and of each of several, which have a header of six octets (spec 8). */
const capacity = { gsm7: { single: 160, joined: 153 }, ucs2: { single: 70, joined: 67 } } as const

/** The most characters of a text, as JSON clients count them. */
export const maxTextLength = 1_600

/** The most segments of one message. */
export const maxSegments = 10

const costOf = (encoding: Encoding, character: string) =>
  encoding === "gsm7" ? septetsOf(character)?.length ?? 0 : character.length

/**
 * Splits a text into segments of whole characters: it never separates an escape from its septet, or the halves of a
 * surrogate pair. So the count is not a simple division: 152 letters and a € leave one septet unused.
 */
export const segment = (text: string): Segmented => {
  const characters = Array.from(text)
  const encoding = characters.every((character) => septetsOf(character) !== undefined) ? "gsm7" : "ucs2"
  const units = characters.reduce((sum, character) => sum + costOf(encoding, character), 0)
  if (units <= capacity[encoding].single) return { encoding, units, parts: [text] }
  const parts: Array<string> = []
  let part = ""
  let used = 0
  for (const character of characters) {
    const cost = costOf(encoding, character)
    if (used + cost > capacity[encoding].joined) {
      parts.push(part)
      part = ""
      used = 0
    }
    part += character
    used += cost
  }
  return { encoding, units, parts: [...parts, part] }
}
