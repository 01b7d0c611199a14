import { Schema } from "effect"

/** Why no complete response arrived. A delivery's `error` uses the same names. */
export const FailureReason = Schema.Literals([
  "timeout",
  "connection_refused",
  "connection_reset",
  "dns_error",
  "tls_error",
  "blocked_address",
  "body_read"
])
export type FailureReason = typeof FailureReason.Type
