import { Schema } from "effect"

/**
 * A string that can be stored, signed and sent: no NUL (PostgreSQL has none) and no lone surrogate (which has no UTF-8
 * form). All strings of request bodies use it.
 */
export const Text = Schema.String.check(
  Schema.makeFilter((text: string) => text.includes("\0") ? "must not contain a NUL character" : undefined),
  // The description of a checked string belongs to its last check, and only a check with a JSON Schema form carries it
  // there.
  Schema.makeFilter(
    (text: string) => text.isWellFormed() ? undefined : "must be well-formed Unicode",
    { toJsonSchema: () => ({}) }
  )
)

const problemOfLength = (length: number, minimum: number, maximum: number) =>
  length < minimum
    ? minimum === 1 ? "must not be empty" : `must have at least ${minimum} characters`
    : length > maximum
    ? `must have at most ${maximum} characters`
    : undefined

/** {@link Text} with bounds on its length in UTF-16 units, as JSON clients count. */
export const textBetween = (minimum: number, maximum: number) =>
  Text.check(
    Schema.makeFilter((text: string) => problemOfLength(text.length, minimum, maximum), {
      toJsonSchema: () => ({ minLength: minimum, maxLength: maximum })
    })
  )

/** The number of Unicode code points: JSON Schema's length. */
export const codePointsOf = (text: string): number => {
  let count = 0
  for (const _ of text) count++
  return count
}

/** {@link Text} with bounds on its length in code points: an emoji of two UTF-16 units counts once. */
export const codePointsBetween = (minimum: number, maximum: number) =>
  Text.check(
    Schema.makeFilter((text: string) => problemOfLength(codePointsOf(text), minimum, maximum), {
      toJsonSchema: () => ({ minLength: minimum, maxLength: maximum })
    })
  )

/**
 * A pattern for clients, where another check decides. It has to match every text that this check accepts, and has no
 * lookahead, which several languages lack.
 */
export const documentedPattern = (pattern: string) =>
  Schema.makeFilter((_: string) => undefined, { toJsonSchema: () => ({ pattern }) })

/** Not only blanks. A length check refuses empty strings. */
export const notBlank = Schema.makeFilter(
  (text: string) => text === "" || /\S/.test(text) ? undefined : "must not be blank",
  { toJsonSchema: () => ({ pattern: "\\S" }) }
)

/** {@link textBetween} on one line and not blank, for names in headers and lists. */
export const lineBetween = (minimum: number, maximum: number) =>
  textBetween(minimum, maximum).check(
    Schema.makeFilter(
      (text: string) =>
        // oxlint-disable-next-line no-control-regex -- the pattern finds control characters
        /[\u0001-\u001f\u007f\u2028\u2029]/.test(text)
          ? "must not contain line breaks or control characters"
          : undefined,
      { toJsonSchema: () => ({}) }
    ),
    notBlank
  )
