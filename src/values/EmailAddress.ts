import { Effect, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { parseDomainName } from "./DomainName.ts"

// RFC 5321 4.5.3.1: 64 octets before the @, and 254 in all (a path of 256 without its angle brackets).
const maxLocalLength = 64
const maxLength = 254

/** Longer input is refused unparsed. A domain shrinks little when it becomes A-labels. */
const maxInputLength = 1_100

// RFC 5322 dot-atom: atext without quotes, comments or spaces.
const dotAtom = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/

/**
 * Signs that a text is not one bare address, in the order of their messages. Each has once made a mail library add a
 * recipient: a list, a display name, a line break before another RCPT.
 */
const signs: ReadonlyArray<readonly [RegExp, string]> = [
  [/[\r\n\u2028\u2029]/, "must not contain line breaks"],
  // oxlint-disable-next-line no-control-regex -- the pattern finds control characters
  [/[\u0000-\u001f\u007f-\u009f]/, "must not contain control characters"],
  [/[<>]/, "must be the bare address, such as name@example.com, without angle brackets or a display name"],
  [/[,;]/, "must be one address: write several as separate entries, without commas or semicolons"],
  [/"/, "must not have a quoted local part: quotation marks are not supported"],
  [/[()]/, "must not contain a comment in parentheses"],
  [/\s/, "must not contain spaces"]
]

const textFault = (text: string): string | undefined => {
  if (text === "") return "must not be empty: write an address such as name@example.com"
  if (text.length > maxInputLength) return `must have at most ${maxLength} characters`
  if (!text.isWellFormed()) return "must be well-formed Unicode"
  const sign = signs.find(([pattern]) => pattern.test(text))
  if (sign !== undefined) return sign[1]
  const at = text.indexOf("@")
  if (at < 0) return "has no @: write an address such as name@example.com"
  return text.includes("@", at + 1) ? "has more than one @: write exactly one address" : undefined
}

const localFault = (local: string): string | undefined => {
  if (local === "") return "has nothing before the @"
  if (/[^\u0021-\u007e]/.test(local)) {
    return "must have only ASCII characters before the @, because relays refuse others"
  }
  if (local.length > maxLocalLength) return `must have at most ${maxLocalLength} characters before the @`
  if (dotAtom.test(local)) return undefined
  return /^\.|\.$|\.\./.test(local)
    ? "must not have a dot first, last or twice in a row before the @"
    : "has a character before the @ that is not allowed there"
}

const parse = (text: string): Result.Result<string, string> => {
  const found = textFault(text)
  if (found !== undefined) return Result.fail(found)
  const at = text.indexOf("@")
  const local = text.slice(0, at)
  const wrong = localFault(local)
  if (wrong !== undefined) return Result.fail(wrong)
  if (at === text.length - 1) return Result.fail("has nothing after the @")
  const domain = parseDomainName(text.slice(at + 1))
  if (Result.isFailure(domain)) return Result.fail(`has a wrong domain after the @: it ${domain.failure}`)
  const address = `${local}@${domain.success}`
  return address.length > maxLength
    ? Result.fail(`must have at most ${maxLength} characters`)
    : Result.succeed(address)
}

const Canonical = Schema.String.check(
  Schema.makeFilter(
    (text: string) => {
      const parsed = parse(text)
      if (Result.isFailure(parsed)) return parsed.failure
      return parsed.success === text ? undefined : "must have its domain in lower-case A-labels, without a final dot"
    },
    {
      arbitraryConstraint: {
        patterns: [{
          source: "^[A-Za-z0-9!#'*+_~-]{1,12}(\\.[a-z0-9=]{1,9})?@[a-z]{1,9}(\\.[a-z]{2,6}){1,2}$",
          flags: ""
        }]
      }
    }
  )
).pipe(Schema.brand("EmailAddress"))

/**
 * Exactly one addr-spec that is safe in an SMTP command and in a header: an ASCII dot-atom, `@`, a {@link DomainName}.
 * The domain becomes lower-case A-labels. The local part stays unchanged, because only its host may ignore case. The
 * domain need not exist.
 */
export const EmailAddress = Schema.String.annotate({ description: "An email address", format: "email" }).pipe(
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
export type EmailAddress = typeof Canonical.Type

/** The domain of an address, which must be verified before mail is sent from it (spec 4.3). */
export const domainOf = (address: string): string => address.slice(address.lastIndexOf("@") + 1)
