/** Formats a count with thousands separators: `1,234`. */
export const thousands = (count: number): string => String(count).replaceAll(/\B(?=(\d{3})+$)/g, ",")

/** Formats a count with its noun in the singular or plural: `1 email`, `1,234 emails`. */
export const pluralize = (count: number, one: string, several = `${one}s`): string =>
  `${thousands(count)} ${count === 1 ? one : several}`

const named: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }

/** A text of a caller for a message: control characters and line separators are escaped as in JSON, so it stays one line. */
export const oneLine = (text: string): string =>
  text.replaceAll(
    // oxlint-disable-next-line no-control-regex -- the pattern finds control characters
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g,
    (found) => named[found] ?? `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`
  )

/** The same for every text inside a value of plain JSON. */
export const oneLineEach = <A>(value: A): A => {
  if (typeof value === "string") return oneLine(value) as A // `A` is a string type
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(oneLineEach) as A // has the same items
  // Has the same fields with the same types.
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, oneLineEach(field)])) as A
}
