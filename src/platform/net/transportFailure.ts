import type { FailureReason } from "../../values/FailureReason.ts"
import { undici } from "./undici.ts"

/** The address is not public, so the guard refused to connect. */
export class BlockedAddressError extends Error {
  readonly code = "BLOCKED_ADDRESS"

  /** `what` names the address that is not public. */
  constructor(what: string) {
    super(`${what}: use a public host`)
  }
}

/** The name has no address, or its name servers failed. */
export class NameError extends Error {
  readonly code = "NAME_NOT_RESOLVED"
}

/** The connection was not established in time. */
export class ConnectTimeoutError extends Error {
  readonly code = "ETIMEDOUT"
}

const timeouts = new Set(["ETIMEDOUT", "UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"])

const unreachable = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENETDOWN",
  "EHOSTDOWN",
  "EADDRNOTAVAIL",
  "EACCES",
  "EPERM",
  "EMFILE",
  "ENFILE"
])

/** Error codes of Node and of OpenSSL's certificate verification. */
const tls =
  /^(ERR_TLS_|ERR_SSL_|ERR_OSSL_|EPROTO$|CERT_|CRL_|ERROR_IN_C|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_(CA|PURPOSE)|PATH_LENGTH|HOSTNAME_MISMATCH)/

/** Whether the response was not HTTP, or its head was too large. */
const isUnreadable = (error: Error): boolean =>
  error instanceof undici().errors.HTTPParserError
  || error instanceof undici().errors.HeadersOverflowError
  || error instanceof undici().errors.ResponseContentLengthMismatchError

const codeOf = (error: Error): string => "code" in error && typeof error.code === "string" ? error.code : ""

/** Maps a transport error to its reason; undefined for an invalid request, which is a defect. */
export const failureReason = (error: Error, responseStarted: boolean): FailureReason | undefined => {
  const code = codeOf(error)
  if (error instanceof BlockedAddressError) return "blocked_address"
  if (error instanceof NameError) return "dns_error"
  if (timeouts.has(code)) return "timeout"
  if (code === "UND_ERR_INVALID_ARG") return undefined
  if (responseStarted || isUnreadable(error)) return "body_read"
  if (tls.test(code)) return "tls_error"
  return unreachable.has(code) ? "connection_refused" : "connection_reset"
}

// OpenSSL puts its message inside its own notation. Node appends advice for the operator, which the URL's owner cannot use.
const openSsl = /:SSL routines:[^:]*:([^:]+):/
const advice = /; if the root CA .*$/

/** Describes the error to the owner of the URL. If several addresses failed, it describes the first failure. */
export const describe = (error: Error): string => {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error
  const sentence = (first instanceof Error ? first.message : "") || error.message || codeOf(error) || error.name
  const meant = openSsl.exec(sentence)?.[1]
  return meant === undefined ? sentence.replace(advice, "") : `TLS failed: ${meant}`
}
