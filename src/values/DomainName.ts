import { suffixes } from "#libraries"
import { Effect, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"

/** No name whose A-labels fit into 253 octets has more UTF-16 units than this. */
const maxInputLength = 1_000

const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/
// WHATWG URL parses a host with such an ending as an IPv4 address, also in hexadecimal.
const numeric = /^(?:\d+|0x[\da-f]*)$/
const forbidden = /[^A-Za-z0-9.\-_\u0080-\uffff]/

/** The fault of one label of a lower-case name, or undefined. */
const labelFault = (text: string): string | undefined => {
  if (text === "") return "must not have an empty label: check its dots"
  if (text.length > 63) return "must not have a label of more than 63 characters"
  if (label.test(text)) return undefined
  return "must have labels of letters, digits and inner hyphens only"
}

const fault = (name: string): string | undefined => {
  if (name.length > 253) return "must have at most 253 characters"
  const labels = name.split(".")
  // An IPv4 address has no letters in its last label, and no top-level domain is a number (RFC 3696 section 2).
  if (numeric.test(labels.at(-1) ?? "")) return "must be a name, not an IP address"
  for (const text of labels) {
    const found = labelFault(text)
    if (found !== undefined) return found
  }
  return labels.length < 2 ? "must have at least two labels, such as example.com" : undefined
}

/** Faults that are visible before conversion, because a URL decodes %41 and similar input. */
const inputFault = (text: string): string | undefined => {
  if (text === "") return "must not be empty"
  if (text.length > maxInputLength) return "must have at most 253 characters"
  if (!text.isWellFormed()) return "must be well-formed Unicode"
  if (/[[\]:]/.test(text)) return "must be a bare domain name, without an IP address, a scheme or a port"
  if (text.includes("_")) return "must not contain an underscore"
  return forbidden.test(text) ? "must contain letters, digits, hyphens and dots only" : undefined
}

// oxlint-disable-next-line no-control-regex -- the pattern matches the ASCII range
const isAscii = (text: string) => /^[\u0000-\u007f]*$/.test(text)

/** Uses the URL parser of Node and browsers, because both read the contract. Empty for an invalid name. */
const toALabels = (text: string) => URL.parse(`http://${text}`)?.hostname ?? ""

/**
 * Parses a host name (RFC 1123) in any case, with or without the final dot, in Unicode or A-labels. The failure says
 * what the name must be, in words that follow the field's name.
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
 * A domain name of at least two labels: lower-case A-labels without a final dot, at most 253 characters. It decodes
 * from any written form. The name need not resolve.
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

// A private suffix (github.io) is a registered domain whose owner may send mail from it.
const suffixRules = { allowPrivateDomains: false, extractHostname: false, validateHostname: false }

/**
 * The registered domain of `name`: `example.co.uk` for `a.b.example.co.uk` (DMARC's organizational domain). Null if the
 * name is a public suffix, such as `co.uk`.
 */
export const organizationalDomain = (name: DomainName): DomainName | null => {
  const domain = suffixes().getDomain(name, suffixRules)
  return domain === null ? null : Canonical.make(domain, { disableChecks: true })
}

/** A {@link DomainName} that can be registered: not a public suffix such as `co.uk`. */
export const RegistrableDomainName = DomainName.check(
  Schema.makeFilter((name: DomainName) =>
    organizationalDomain(name) === null ? "must be a domain that you own, not a public suffix" : undefined
  )
)
