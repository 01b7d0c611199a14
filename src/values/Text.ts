import { Schema } from "effect"

/**
 * A string that the service can store, sign and send on: no NUL (PostgreSQL has none) and no lone surrogate
 * (which has no UTF-8 form). Every string of a request body is one.
 */
export const Text = Schema.String.check(
  Schema.makeFilter((text: string) => text.includes("\0") ? "must not contain a NUL character" : undefined),
  // A description that is given to a checked string stands with its last check, and only one that says something to
  // the document takes it there.
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

/** {@link Text} of a length within bounds, counted in UTF-16 units as JSON clients count them. */
export const textBetween = (minimum: number, maximum: number) =>
  Text.check(
    Schema.makeFilter((text: string) => problemOfLength(text.length, minimum, maximum), {
      toJsonSchema: () => ({ minLength: minimum, maxLength: maximum })
    })
  )

/** How many Unicode code points a text has: what JSON Schema calls its length. */
export const codePointsOf = (text: string): number => {
  let count = 0
  for (const _ of text) count++
  return count
}

/** {@link Text} of a length within bounds, counted in code points: an emoji of two UTF-16 units is one. */
export const codePointsBetween = (minimum: number, maximum: number) =>
  Text.check(
    Schema.makeFilter((text: string) => problemOfLength(codePointsOf(text), minimum, maximum), {
      toJsonSchema: () => ({ minLength: minimum, maxLength: maximum })
    })
  )

/** Something to read, not blanks alone; that it is not empty is for its length to say. */
export const notBlank = Schema.makeFilter(
  (text: string) => text === "" || /\S/.test(text) ? undefined : "must not be blank",
  { toJsonSchema: () => ({ pattern: "\\S" }) }
)

/**
 * {@link textBetween} on one line, with something to read: what stands in a header or a list must not break it, and
 * people find things by what they are called.
 */
export const lineBetween = (minimum: number, maximum: number) =>
  textBetween(minimum, maximum).check(
    Schema.makeFilter(
      (text: string) =>
        // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
        /[\u0001-\u001f\u007f\u2028\u2029]/.test(text)
          ? "must not contain line breaks or control characters"
          : undefined,
      { toJsonSchema: () => ({}) }
    ),
    notBlank
  )
