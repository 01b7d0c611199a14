import { Schema } from "effect"

/** Static headers of a webhook's deliveries, by name. */
export type WebhookHeaders = Readonly<Record<string, string>>

/** Responses have this in place of each value. In a change it keeps the value that is stored under its name. */
export const maskedValue = "********"

const maxHeaders = 10
const maxName = 100
const maxValue = 1_000

/** Names that the service, HTTP or the connection sets (RFC 9110, 7.6.1). */
const reserved: ReadonlySet<string> = new Set([
  "connection",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent"
])

const reservedPrefixes = ["content-", "webhook-", "x-service-"]

const problemOfName = (name: string, others: ReadonlyArray<string>): string | undefined => {
  const lower = name.toLowerCase()
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || name.length > maxName) {
    return `the name must have 1 to ${maxName} letters, digits or hyphens`
  }
  if (reserved.has(lower) || reservedPrefixes.some((prefix) => lower.startsWith(prefix))) {
    return "this header is reserved: choose another name"
  }
  return others.some((other) => other !== name && other.toLowerCase() === lower)
    ? "the name appears twice, in another case"
    : undefined
}

/** A value travels as it is (RFC 9110, 5.5): printable ASCII without blanks at its ends. */
const problemOfValue = (value: string): string | undefined => {
  if (value.length > maxValue) return `the value must have at most ${maxValue} characters`
  return /^[!-~](?:[\t -~]*[!-~])?$/.test(value)
    ? undefined
    : "the value must be printable ASCII on one line, not empty, and without blanks at its ends"
}

const problemOf = (headers: WebhookHeaders) => {
  const names = Object.keys(headers)
  if (names.length > maxHeaders) return `at most ${maxHeaders} headers`
  return Object.entries(headers).flatMap(([name, value]) => {
    const issue = problemOfName(name, names) ?? problemOfValue(value)
    return issue === undefined ? [] : [{ path: [name.slice(0, maxName)], issue }]
  })
}

/** The `headers` of a request. */
export const WebhookHeaders = Schema.Record(Schema.String, Schema.String)
  .annotate({
    description:
      "Headers that every delivery carries, for example a token of your gateway. At most 10. Names of HTTP, of "
      + "the connection and those that begin with Content-, X-Service- or webhook- are reserved."
  })
  .check(Schema.makeFilter(problemOf, { toJsonSchema: () => ({ maxProperties: maxHeaders }) }))

/** The stored headers in their sealed form. */
const Stored = Schema.fromJsonString(Schema.Record(Schema.String, Schema.String))

export const encodeHeaders: (headers: WebhookHeaders) => string = Schema.encodeSync(Stored)
export const decodeHeaders: (stored: string) => WebhookHeaders = Schema.decodeSync(Stored)
