import { errors } from "undici"
import type { FailureReason } from "../../values/FailureReason.ts"
import { BlockedAddressError, NameError } from "./transportErrors.ts"

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

/** Codes of Node and of OpenSSL's certificate verification. */
const tls =
  /^(ERR_TLS_|ERR_SSL_|ERR_OSSL_|EPROTO$|CERT_|CRL_|ERROR_IN_C|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_(CA|PURPOSE)|PATH_LENGTH|HOSTNAME_MISMATCH)/

/** The answer was no HTTP, or its head was too large. */
const isUnreadable = (error: Error): boolean =>
  error instanceof errors.HTTPParserError
  || error instanceof errors.HeadersOverflowError
  || error instanceof errors.ResponseContentLengthMismatchError

const codeOf = (error: Error): string => "code" in error && typeof error.code === "string" ? error.code : ""

/** undefined for a request that could not be made at all, which is our own fault. */
export const failureReason = (error: Error, answerHadBegun: boolean): FailureReason | undefined => {
  const code = codeOf(error)
  if (error instanceof BlockedAddressError) return "blocked_address"
  if (error instanceof NameError) return "dns_error"
  if (timeouts.has(code)) return "timeout"
  if (code === "UND_ERR_INVALID_ARG") return undefined
  if (answerHadBegun || isUnreadable(error)) return "body_read"
  if (tls.test(code)) return "tls_error"
  return unreachable.has(code) ? "connection_refused" : "connection_reset"
}

/** What OpenSSL means, in the middle of its own notation; and the advice that Node adds for whoever runs the process. */
const openSsl = /:SSL routines:[^:]*:([^:]+):/
const advice = /; if the root CA .*$/

/** The sentence of the error for the owner of the URL; of several addresses that all failed, the first one's. */
export const describe = (error: Error): string => {
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error
  const sentence = (first instanceof Error ? first.message : "") || error.message || codeOf(error) || error.name
  const meant = openSsl.exec(sentence)?.[1]
  return meant === undefined ? sentence.replace(advice, "") : `TLS failed: ${meant}`
}
