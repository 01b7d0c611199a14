import { Schema } from "effect"
import { wire } from "../../../platform/http/ApiError.ts"
import { EmailMessageId } from "../../../values/Ids.ts"
import { Timestamp } from "../../../values/Timestamp.ts"

/** Why an account must not email an address. */
export const SuppressionReason = Schema.Literals(["unsubscribe", "bounce", "complaint", "manual"])
export type SuppressionReason = typeof SuppressionReason.Type

/** An address that an account must not email. */
export const Suppression = Schema.Struct({
  email: Schema.String.annotate({ description: "In lower case, its domain in A-labels", format: "email" }),
  reason: SuppressionReason,
  source_message_id: Schema.NullOr(EmailMessageId).annotate({
    description: "The message that caused the suppression; null for a manual one"
  }),
  created_at: Timestamp
}).annotate({ identifier: "Suppression" })
export type Suppression = typeof Suppression.Type

/** A complaint cannot be deleted. The error carries no address: the caller has it, and logs must not. */
export class ComplaintNotRemovable extends Schema.TaggedError<ComplaintNotRemovable>()(
  "ComplaintNotRemovable",
  {},
  wire(409, "complaint_not_removable", 4098)
) {
  override get message() {
    return "The owner of this address reported your mail as spam, so it stays suppressed. Do not email it again."
  }
}
