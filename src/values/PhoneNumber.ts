import { phones } from "#libraries"
import { Effect, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"
import type { CountryCode, PhoneNumber as Parsed } from "libphonenumber-js/max"

/** Fifteen digits with separators. */
const maxInputLength = 40

/** A plus, then digits of any script with usual separators; no letters and no extension. */
const international = /^\+[\p{Nd}\p{Zs}().\-‐-―/]+$/u

/** Digits without a plus. No country code begins with 0, so `00…` and national forms are not among them. */
const withoutPlus = /^(?![0٠۰])\p{Nd}/u

/** Adds a missing plus. A leading space is a plus that a query has decoded. */
const withPlus = (text: string) => {
  const trimmed = text.trim()
  return withoutPlus.test(trimmed) ? `+${trimmed}` : trimmed
}

const read = (text: string) => phones().parsePhoneNumberFromString(text, { extract: false })

/** Caches recent canonical numbers: each number is checked twice, and many receive several messages. */
const canonical = new Set<string>()
const maxCached = 1_000

const remember = (number: string) => {
  const [oldest] = canonical
  if (canonical.size >= maxCached && oldest !== undefined) canonical.delete(oldest)
  canonical.add(number)
}

/**
 * Accepts possible numbers (their length fits their country), not only assigned ones, because assignments change faster
 * than any table.
 */
const parse = (text: string): Result.Result<string, string> => {
  if (canonical.has(text)) return Result.succeed(text)
  const trimmed = withPlus(text)
  if (trimmed === "") return Result.fail("must not be empty: write a number such as +250788123456")
  if (!trimmed.startsWith("+")) return Result.fail("must begin with the country code, such as +250788123456")
  if (!international.test(trimmed)) {
    return Result.fail("must have only digits after the +, without letters or an extension")
  }
  const parsed = read(trimmed)
  if (parsed?.isPossible() !== true) {
    return Result.fail("is not a possible number: check its country code and its length")
  }
  if (parsed.number === text) remember(text)
  return Result.succeed(parsed.number)
}

const Canonical = Schema.String.check(
  Schema.makeFilter(
    (text: string) => {
      const parsed = parse(text)
      if (Result.isFailure(parsed)) return parsed.failure
      return parsed.success === text ? undefined : "must be a + and digits"
    },
    { arbitraryConstraint: { patterns: [{ source: "^\\+2507[2389][0-9]{7}$", flags: "" }] } }
  )
).pipe(Schema.brand("PhoneNumber"))

/**
 * A phone number in E.164: a plus and up to fifteen digits. Input may contain spaces, dashes, dots and brackets, in any
 * script, and lack the plus. The country code is required, because there is no default country.
 */
export const PhoneNumber = Schema.String.check(
  Schema.makeFilter(
    (text: string) => text.length <= maxInputLength ? undefined : `must have at most ${maxInputLength} characters`,
    { toJsonSchema: () => ({ maxLength: maxInputLength, pattern: "^[^A-Za-z]+$" }) }
  )
).annotate({ description: "A phone number with its country code; the + may be left out" }).pipe(
  Schema.decodeTo(
    Canonical,
    SchemaTransformation.transformEffect({
      decode: (text, options) =>
        Effect.fromResult(
          Result.mapError(parse(text), (message) => new SchemaIssue.InvalidValue({ message }, text, options))
        ),
      encode: Effect.succeed
    })
  )
)
export type PhoneNumber = typeof Canonical.Type

/** A number of a row. It was checked when it was accepted, and the tables of numbers may have changed since then. */
export const StoredPhoneNumber = Schema.String.pipe(Schema.brand("PhoneNumber"))

/** `+1` has 25 countries and `+44` four. An unassigned number counts to the administering country. */
const administrators: Readonly<Record<string, CountryCode>> = { "1": "US", "7": "RU", "44": "GB", "61": "AU" }

const countryIn = (parsed: Parsed): string | undefined =>
  parsed.country ?? administrators[parsed.countryCallingCode] ?? parsed.getPossibleCountries()[0]

/** The two-letter country code of a number; undefined for satellite and other numbers without a country. */
export const countryOf = (number: PhoneNumber): string | undefined => {
  const parsed = read(number)
  return parsed === undefined ? undefined : countryIn(parsed)
}

const lineTypes = {
  MOBILE: "mobile",
  FIXED_LINE: "fixed_line",
  FIXED_LINE_OR_MOBILE: "fixed_line_or_mobile",
  PREMIUM_RATE: "premium_rate",
  TOLL_FREE: "toll_free",
  SHARED_COST: "shared_cost",
  VOIP: "voip",
  PERSONAL_NUMBER: "personal_number",
  PAGER: "pager",
  UAN: "company_number",
  VOICEMAIL: "voicemail"
} as const

export const LineType = Schema.Literals(Object.values(lineTypes))
export type LineType = typeof LineType.Type

/** Facts of a number from the numbering plans. */
export interface PhoneFacts {
  readonly e164: PhoneNumber
  /** Whether it is in a range that its country has assigned. */
  readonly isAssigned: boolean
  readonly nationalFormat: string
  readonly country: string | undefined
  readonly dialPrefix: string
  readonly lineType: LineType | undefined
}

/** The facts of a number in any spelling; undefined if it is impossible. */
export const phoneFacts = (text: string): PhoneFacts | undefined => {
  const number = Schema.decodeResult(PhoneNumber)(text)
  const parsed = Result.isSuccess(number) ? read(number.success) : undefined
  if (Result.isFailure(number) || parsed === undefined) return undefined
  const type = parsed.getType()
  return {
    e164: number.success,
    isAssigned: parsed.isValid(),
    nationalFormat: parsed.formatNational(),
    country: countryIn(parsed),
    dialPrefix: `+${parsed.countryCallingCode}`,
    lineType: type === undefined ? undefined : lineTypes[type]
  }
}

/** Every country of the numbering plans with its dial prefix, for the example price list. */
export const dialPrefixes = (): ReadonlyArray<readonly [country: string, prefix: string]> =>
  phones().getCountries().map((country) => [country, `+${phones().getCountryCallingCode(country)}`])
