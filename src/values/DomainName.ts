import { Effect, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { getDomain } from "tldts"

/** No name whose A-label form fits into 253 octets is written with more UTF-16 units than this. */
const longestInput = 1_000

const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
// WHATWG URL reads a host that ends so as an IPv4 address, also in hexadecimal.
const numeric = /^(?:\d+|0x[\da-f]*)$/
const forbidden = /[^A-Za-z0-9.\-_\u0080-\uffff]/

/** What is wrong with one label of a lower-case name, or undefined. */
const labelFault = (text: string): string | undefined => {
  if (text === "") return "must not have an empty label: check its dots"
  if (text.length > 63) return "must not have a label of more than 63 characters"
  if (label.test(text)) return undefined
  return "must have labels of letters, digits and inner hyphens only"
}

const fault = (name: string): string | undefined => {
  if (name.length > 253) return "must have at most 253 characters"
  const labels = name.split(".")
  // An IPv4 address has no letters in its last label; no top-level domain is a number (RFC 3696 section 2).
  if (numeric.test(labels.at(-1) ?? "")) return "must be a name, not an IP address"
  for (const text of labels) {
    const found = labelFault(text)
    if (found !== undefined) return found
  }
  return labels.length < 2 ? "must have at least two labels, such as example.com" : undefined
}

/** What the characters alone already tell, before the name is converted: a URL decodes %41 and more. */
const inputFault = (text: string): string | undefined => {
  if (text === "") return "must not be empty"
  if (text.length > longestInput) return "must have at most 253 characters"
  if (!text.isWellFormed()) return "must be well-formed Unicode"
  if (/[[\]:]/.test(text)) return "must be a bare domain name, without an IP address, a scheme or a port"
  if (text.includes("_")) return "must not contain an underscore"
  return forbidden.test(text) ? "must contain letters, digits, hyphens and dots only" : undefined
}

// oxlint-disable-next-line no-control-regex -- the ASCII range is what is looked for
const isAscii = (text: string) => /^[\u0000-\u007f]*$/.test(text)

/** By the URL parser of Node and browsers, as the contract is read in both; empty for a name that has no such form. */
const toALabels = (text: string) => URL.parse(`http://${text}`)?.hostname ?? ""

/**
 * Reads a host name (RFC 1123) in any case, with or without the final dot, in Unicode or A-labels. The failure says
 * what the name must be, in words that follow the name of the field.
 */
export const parseDomainName = (text: string): Result.Result<DomainName, string> => {
  const unreadable = inputFault(text)
  if (unreadable !== undefined) return Result.fail(unreadable)
  const ascii = isAscii(text) ? text.toLowerCase() : toALabels(text)
  if (ascii === "") return Result.fail("must be a valid internationalised domain name")
  const name = ascii.endsWith(".") ? ascii.slice(0, -1) : ascii
  const found = fault(name)
  return found === undefined ? Result.succeed(Canonical.make(name, { disableChecks: true })) : Result.fail(found)
}

const Canonical = Schema.String.check(
  Schema.makeFilter(
    (name: string) => name === name.toLowerCase() && isAscii(name) ? fault(name) : "must be lower-case",
    {
      arbitraryConstraint: { patterns: [{ source: "^[a-z]{1,9}(-[a-z0-9]{1,5})?(\\.[a-z]{2,6}){1,2}$", flags: "" }] }
    }
  )
).pipe(Schema.brand("DomainName"))

/**
 * A domain name of at least two labels: lower-case, A-labels for an internationalised name, no final dot, at most 253
 * characters. It decodes from any written form. Names that resolve nowhere (`a.test`, `b.localhost`) are names too.
 */
export const DomainName = Schema.String.annotate({ description: "A domain name", format: "hostname" }).pipe(
  Schema.decodeTo(
    Canonical,
    SchemaTransformation.transformEffect<string, string>({
      decode: (text, options) =>
        Effect.fromResult(
          Result.mapError(parseDomainName(text), (message) => new SchemaIssue.InvalidValue({ message }, text, options))
        ),
      encode: Effect.succeed
    })
  )
)
export type DomainName = typeof Canonical.Type

// Private suffixes (github.io) are somebody's own domain, whose owner may well send mail from it.
const suffixRules = { allowPrivateDomains: false, extractHostname: false, validateHostname: false }

/**
 * The domain that was registered at a registry and that answers for `name`: `example.co.uk` for `a.b.example.co.uk`
 * (DMARC calls it the organizational domain). Null when the name itself is a public suffix, such as `co.uk`.
 */
export const organizationalDomain = (name: DomainName): DomainName | null => {
  const domain = getDomain(name, suffixRules)
  return domain === null ? null : Canonical.make(domain, { disableChecks: true })
}

/** A {@link DomainName} that somebody can own: not a public suffix such as `co.uk`. */
export const RegistrableDomainName = DomainName.check(
  Schema.makeFilter((name: DomainName) =>
    organizationalDomain(name) === null ? "must be a domain that you own, not a public suffix" : undefined
  )
)
