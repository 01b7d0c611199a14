import { Schema } from "effect"
import { VerificationId } from "../values/Ids.ts"
import { Timestamp } from "../values/Timestamp.ts"

/** The channels for codes. */
export const CodeChannel = Schema.Literals(["sms", "whatsapp", "email"])
export type CodeChannel = typeof CodeChannel.Type

/** `approved`, `expired` and `max_attempts` are final: no code is accepted any more. */
export const VerificationStatus = Schema.Literals(["pending", "approved", "expired", "max_attempts"])
export type VerificationStatus = typeof VerificationStatus.Type

/** The response to a send. It never contains the code. */
export const SentVerification = Schema.Struct({
  id: VerificationId,
  to: Schema.String,
  channel: CodeChannel.annotate({
    description: "The channel; for an automatic verification, the one that accepted the code"
  }),
  status: VerificationStatus,
  expires_at: Timestamp,
  created_at: Timestamp
}).annotate({ identifier: "SentVerification" })
export type SentVerification = typeof SentVerification.Type

/** A verification as the API shows it. */
export const Verification = Schema.Struct({ ...SentVerification.fields, attempts_remaining: Schema.Int }).annotate({
  identifier: "Verification"
})
export type Verification = typeof Verification.Type

/** How long a prefix is blocked. */
export const blockHours = 12

/** Numbers that get no codes for now, because hardly any of their codes were entered. */
export const BlockedPrefix = Schema.Struct({
  prefix: Schema.String.annotate({ description: "The numbers without their last four digits, such as +25078811" }),
  since: Timestamp,
  until: Timestamp
}).annotate({ identifier: "BlockedPrefix" })
export type BlockedPrefix = typeof BlockedPrefix.Type

/** What became of verifications. */
const Figures = Schema.Struct({
  verifications: Schema.Int,
  codes_sent: Schema.Int.annotate({ description: "More than the verifications where codes were sent again" }),
  pending: Schema.Int,
  confirmed: Schema.Int,
  expired: Schema.Int,
  max_attempts: Schema.Int.annotate({ description: "Ended by too many wrong codes" }),
  wrong_codes: Schema.Int,
  conversion: Schema.NullOr(Schema.Finite).annotate({
    description: "The share of the confirmed ones, from 0 to 1, without those that are pending. Null without any"
  }),
  cost_usd: Schema.Finite.annotate({ description: "The price of the SMS" }),
  cost_per_confirmed_usd: Schema.NullOr(Schema.Finite),
  median_seconds: Schema.NullOr(Schema.Finite).annotate({
    description: "Half of the confirmed ones took no longer than this, from the first code on"
  })
})
export type Figures = typeof Figures.Type

/** The verifications that began in a time. */
export const VerificationStatistics = Schema.Struct({
  total: Figures,
  by_country: Schema.Array(
    Schema.Struct({
      channel: CodeChannel,
      country: Schema.NullOr(Schema.String).annotate({ description: "Two letters, such as RW. Null for email" }),
      ...Figures.fields
    })
  ).annotate({ description: "The same by channel and country, those with the most verifications first" })
}).annotate({ identifier: "VerificationStatistics" })
export type VerificationStatistics = typeof VerificationStatistics.Type

/** The result of a guess. */
export const CheckedCode = Schema.Union([
  Schema.Struct({ id: VerificationId, valid: Schema.Literal(true), verified_at: Timestamp }),
  Schema.Struct({ id: VerificationId, valid: Schema.Literal(false), attempts_remaining: Schema.Int })
]).annotate({ identifier: "CheckedCode" })
export type CheckedCode = typeof CheckedCode.Type
