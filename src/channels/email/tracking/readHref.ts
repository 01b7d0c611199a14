/** Longer targets than servers take in a Location are left as they are. */
const longest = 4_000

/** Names that HTML reads without their semicolon as well. */
const signs: Readonly<Record<string, string>> = {
  amp: "&",
  AMP: "&",
  lt: "<",
  LT: "<",
  gt: ">",
  GT: ">",
  quot: "\"",
  QUOT: "\""
}

/** What may be a reference in an attribute, with the sign after it. */
const reference = /&(?:#(\d{1,7}|[xX][0-9a-fA-F]{1,6})|([a-zA-Z][a-zA-Z0-9]*))(;?)(=?)/g

// HTML reads other numbers as other characters, or as none.
const isPlainCodePoint = (code: number) =>
  (code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff))

const numbered = (digits: string): string | undefined => {
  const code = /^x/i.test(digits) ? Number.parseInt(digits.slice(1), 16) : Number(digits)
  return isPlainCodePoint(code) ? String.fromCodePoint(code) : undefined
}

/** What a possible reference means; undefined when that is not sure. */
const meaningOf = ([whole, digits, name = "", end, equals = ""]: RegExpExecArray): string | undefined => {
  if (digits !== undefined) {
    const sign = numbered(digits)
    return sign === undefined ? undefined : sign + equals
  }
  // `&copy=1` is a parameter, by the rules of attributes; and no name of HTML's has one letter.
  if (end === "" && (equals !== "" || name.length === 1)) return whole
  const sign = name === "apos" && end === ";" ? "'" : Object.hasOwn(signs, name) ? signs[name] : undefined
  return sign === undefined ? undefined : sign + equals
}

/**
 * The text of an attribute, or undefined when it has a reference that is not surely one of those known here: what cannot
 * be read as every mail program reads it must not be sent on to.
 */
const decoded = (source: string): string | undefined => {
  let text = ""
  let at = 0
  for (const match of source.matchAll(reference)) {
    const meaning = meaningOf(match)
    if (meaning === undefined) return undefined
    text += source.slice(at, match.index) + meaning
    at = match.index + match[0].length
  }
  return text + source.slice(at)
}

/** Links of this kind work without us: a reader who wants to leave must not depend on a count. */
const leaves = /unsubscribe/i

const isVisibleAscii = (text: string) => /^[!-~]+$/.test(text)

/**
 * Where a link leads, as it is sent on to: the value of `href` as it stands in the HTML, its references read. Undefined
 * when it is not counted: it is no whole http or https URL, it unsubscribes, it
 * cannot be read for sure, or it has a NUL, which stands for a value that is another one for each recipient.
 */
export const readHref = (source: string): string | undefined => {
  const text = decoded(source)?.replaceAll(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, "")
  if (text === undefined || text.includes("\0") || !/^https?:\/\//i.test(text) || leaves.test(text)) return undefined
  if (!URL.canParse(text)) return undefined
  const target = isVisibleAscii(text) ? text : new URL(text).href
  return target.length <= longest ? target : undefined
}
