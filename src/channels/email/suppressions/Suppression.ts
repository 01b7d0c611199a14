import { Schema } from "effect"
import { EmailMessageId } from "../../../values/Ids.ts"
import { Timestamp } from "../../../values/Timestamp.ts"

/** Why an account does not write to an address. */
export const SuppressionReason = Schema.Literals(["unsubscribe", "bounce", "complaint", "manual"])
export type SuppressionReason = typeof SuppressionReason.Type

/** An address that an account does not write to. */
export const Suppression = Schema.Struct({
  email: Schema.String.annotate({ description: "In lower case, its domain in A-labels", format: "email" }),
  reason: SuppressionReason,
  source_message_id: Schema.NullOr(EmailMessageId).annotate({
    description: "The message that was answered by it; null of a manual one"
  }),
  created_at: Timestamp
})
export type Suppression = typeof Suppression.Type
