import { Schema } from "effect"

/** Metrics with a monthly quota (spec 8). */
export const Metered = Schema.Literals(["email", "sms", "otp"])
export type Metered = typeof Metered.Type

/**
 * Counted metrics. `email`: accepted recipients that are not suppressed. `email_sent`: emails accepted by the relay.
 * `sms`: accepted messages, with `sms_segments` for their cost. `whatsapp`: accepted messages. `otp`: codes.
 */
export const Metric = Schema.Literals([...Metered.literals, "email_sent", "sms_segments", "whatsapp"])
export type Metric = typeof Metric.Type
