import { Schema } from "effect"
import { VerificationId } from "../values/Ids.ts"
import { Timestamp } from "../values/Timestamp.ts"

/** What a code can go by. */
export const CodeChannel = Schema.Literals(["sms", "whatsapp", "email"])
export type CodeChannel = typeof CodeChannel.Type

/** `approved`, `expired` and `max_attempts` are ends: no code opens them any more. */
export const VerificationStatus = Schema.Literals(["pending", "approved", "expired", "max_attempts"])
export type VerificationStatus = typeof VerificationStatus.Type

/** A code on its way, as it is told when it was sent; the code itself is told to its recipient alone. */
export const SentVerification = Schema.Struct({
  id: VerificationId,
  to: Schema.String,
  channel: CodeChannel.annotate({ description: "What it went by; of an automatic one, what it was accepted by" }),
  status: VerificationStatus,
  expires_at: Timestamp,
  created_at: Timestamp
})
export type SentVerification = typeof SentVerification.Type

/** A verification as it is read. */
export const Verification = Schema.Struct({ ...SentVerification.fields, attempts_remaining: Schema.Int })
export type Verification = typeof Verification.Type

/** What a guess came to. */
export const CheckedCode = Schema.Union([
  Schema.Struct({ id: VerificationId, valid: Schema.Literal(true), verified_at: Timestamp }),
  Schema.Struct({ id: VerificationId, valid: Schema.Literal(false), attempts_remaining: Schema.Int })
])
export type CheckedCode = typeof CheckedCode.Type
