import { Schema } from "effect"
import { Text } from "../../../values/Text.ts"

const maxHeaders = 50

const maxLength = 1_000

/** A line has at most 998 characters with the name, and ends only at a space (RFC 5322 2.1.1). */
const maxWordLength = 900

const fieldName = /^[A-Za-z][A-Za-z0-9-]{0,75}$/

/** Fields that mail programs and lists of customers need, apart from `X-` and `List-`. */
const known: ReadonlySet<string> = new Set(["in-reply-to", "references", "auto-submitted", "precedence"])

/** Fields of these kinds that the service sets itself. */
const own: ReadonlySet<string> = new Set([
  "list-unsubscribe",
  "list-unsubscribe-post",
  "x-recipient-token",
  "x-mailer"
])

const faultOfName = (name: string): string | undefined => {
  const field = name.toLowerCase()
  if (own.has(field)) return "must be left out, because the service sets this field itself"
  if (fieldName.test(name) && (known.has(field) || field.startsWith("x-") || field.startsWith("list-"))) {
    return undefined
  }
  return "is no field that a mail may set: use In-Reply-To, References, Auto-Submitted, Precedence, List-* or X-*"
}

// oxlint-disable-next-line no-control-regex -- the pattern finds control characters
const control = /[\u0000-\u0008\u000a-\u001f\u007f]/

const faultOfValue = (name: string, value: string): string | undefined => {
  if (value.trim() === "") return "must not be empty"
  if (value.length > maxLength) return `must have at most ${maxLength} characters`
  if (control.test(value)) return "must not contain line breaks or control characters"
  // oxlint-disable-next-line no-control-regex -- the pattern finds what is not ASCII
  if (/[^\u0000-\u007f]/.test(value)) return /^x-/i.test(name) ? undefined : "must have ASCII characters only"
  return value.split(/[ \t]/).every(({ length }) => length <= maxWordLength)
    ? undefined
    : `must have a space within each ${maxWordLength} characters`
}

/** The first fault of the fields, with the name that it is about. */
const faultOf = (headers: Readonly<Record<string, string>>) => {
  const names = Object.keys(headers)
  if (names.length > maxHeaders) return `must have at most ${maxHeaders} fields`
  const seen = new Set<string>()
  for (const [name, value] of Object.entries(headers)) {
    const fault = seen.has(name.toLowerCase()) ? "must be given once" : faultOfName(name) ?? faultOfValue(name, value)
    if (fault !== undefined) return { path: [name], issue: fault }
    seen.add(name.toLowerCase())
  }
  return undefined
}

/** Further header fields of a mail, by name. DKIM covers them. */
export const MailHeaders = Schema.Record(Schema.String, Text).check(
  Schema.makeFilter((headers: Readonly<Record<string, string>>) => faultOf(headers), {
    toJsonSchema: () => ({ maxProperties: maxHeaders })
  })
).annotate({
  description:
    "Further header fields: In-Reply-To, References, Auto-Submitted, Precedence, List-* except List-Unsubscribe and List-Unsubscribe-Post, and X-*. The DKIM signature covers them"
})
