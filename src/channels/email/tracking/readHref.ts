/** Longer targets stay unchanged: servers refuse them in a Location header. */
const maxTargetLength = 4_000

/** Named references that HTML also reads without their semicolon. */
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

/** Matches a possible reference in an attribute, with the character after it. */
const reference = /&(?:#(\d{1,7}|[xX][0-9a-fA-F]{1,6})|([a-zA-Z][a-zA-Z0-9]*))(;?)(=?)/g

// HTML maps other numbers to different characters, or to none.
const isPlainCodePoint = (code: number) =>
  (code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff))

const numbered = (digits: string): string | undefined => {
  const code = /^x/i.test(digits) ? Number.parseInt(digits.slice(1), 16) : Number(digits)
  return isPlainCodePoint(code) ? String.fromCodePoint(code) : undefined
}

/** Resolves a possible reference, or returns undefined if mail programs may disagree. */
const resolve = ([whole, digits, name = "", end, equals = ""]: RegExpExecArray): string | undefined => {
  if (digits !== undefined) {
    const sign = numbered(digits)
    return sign === undefined ? undefined : sign + equals
  }
  // In an attribute `&copy=1` is a parameter, and HTML has no one-letter reference.
  if (end === "" && (equals !== "" || name.length === 1)) return whole
  const sign = name === "apos" && end === ";" ? "'" : Object.hasOwn(signs, name) ? signs[name] : undefined
  return sign === undefined ? undefined : sign + equals
}

/**
 * Decodes an attribute, or returns undefined if it holds an unknown reference: the service must not redirect to a target
 * that mail programs may read differently.
 */
const decoded = (source: string): string | undefined => {
  let text = ""
  let at = 0
  for (const match of source.matchAll(reference)) {
    const meaning = resolve(match)
    if (meaning === undefined) return undefined
    text += source.slice(at, match.index) + meaning
    at = match.index + match[0].length
  }
  return text + source.slice(at)
}

/** Unsubscribe links are never counted: they must work without this service. */
const unsubscribes = /unsubscribe/i

const isVisibleAscii = (text: string) => /^[!-~]+$/.test(text)

/**
 * Returns the target of a link from the raw value of its `href`, or undefined if the link is not counted: it is not an
 * absolute http or https URL, it unsubscribes, mail programs may read it differently, or it holds a NUL, which marks a
 * placeholder.
 */
export const readHref = (source: string): string | undefined => {
  const text = decoded(source)?.replaceAll(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, "")
  if (text === undefined || text.includes("\0") || !/^https?:\/\//i.test(text) || unsubscribes.test(text)) {
    return undefined
  }
  if (!URL.canParse(text)) return undefined
  const target = isVisibleAscii(text) ? text : new URL(text).href
  return target.length <= maxTargetLength ? target : undefined
}
