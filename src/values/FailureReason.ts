import { Schema } from "effect"

/** Why no whole answer came. The names are those of a delivery's `error`. */
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
