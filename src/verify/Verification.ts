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

/** The result of a guess. */
export const CheckedCode = Schema.Union([
  Schema.Struct({ id: VerificationId, valid: Schema.Literal(true), verified_at: Timestamp }),
  Schema.Struct({ id: VerificationId, valid: Schema.Literal(false), attempts_remaining: Schema.Int })
]).annotate({ identifier: "CheckedCode" })
export type CheckedCode = typeof CheckedCode.Type
