import { Schema } from "effect"

/** What can be used up: a plan has a quota of it for each month (spec 8). */
export const Metered = Schema.Literals(["email", "sms", "otp"])
export type Metered = typeof Metered.Type

/**
 * What is counted of an account. `email`: accepted, one for each recipient that is written to; `email_sent`: taken by the
 * relay; `sms`: accepted messages, and `sms_segments` what they cost; `whatsapp`: accepted messages; `otp`: codes.
 */
export const Metric = Schema.Literals([...Metered.literals, "email_sent", "sms_segments", "whatsapp"])
export type Metric = typeof Metric.Type
