import { Schema } from "effect"
import { EmailBatchId, EmailMessageId, TemplateId } from "../../../values/Ids.ts"
import { Timestamp } from "../../../values/Timestamp.ts"
import { RecipientStatus } from "../bulk/Batch.ts"

const progress = {
  status: RecipientStatus,
  bounce_type: Schema.NullOr(Schema.Literals(["hard", "soft"])),
  error: Schema.NullOr(Schema.String),
  sent_at: Schema.NullOr(Timestamp),
  delivered_at: Schema.NullOr(Timestamp),
  opened_at: Schema.NullOr(Timestamp),
  clicked_at: Schema.NullOr(Timestamp)
}

/**
 * The record of an email: one that was sent by itself, or one recipient's of a batch. Of several recipients it tells the
 * sum: queued while anybody waits, then what the one says who got furthest, complained, clicked, opened, delivered or
 * sent; when nobody got it, bounced, failed or suppressed, in this order. `error` and `bounce_type` are of the first
 * recipient that has them, times are the earliest, and opens and clicks count all.
 */
export const Email = Schema.Struct({
  id: EmailMessageId,
  to: Schema.Union([Schema.String, Schema.Array(Schema.String)]).annotate({
    description: "One address as a string, several as an array"
  }),
  from: Schema.String,
  subject: Schema.String,
  template_id: Schema.NullOr(TemplateId),
  batch_id: Schema.NullOr(EmailBatchId),
  opens: Schema.Int,
  clicks: Schema.Int,
  ...progress,
  created_at: Timestamp
})
export type Email = typeof Email.Type

/** What became of one recipient of an email. */
export const EmailRecipient = Schema.Struct({
  to: Schema.String,
  kind: Schema.Literals(["to", "cc", "bcc"]),
  opens: Schema.Int,
  clicks: Schema.Int,
  ...progress
})
export type EmailRecipient = typeof EmailRecipient.Type

/** The record of an email with each of its recipients. */
export const EmailMessageDetails = Schema.Struct({
  ...Email.fields,
  recipients: Schema.Array(EmailRecipient)
})
export type EmailMessageDetails = typeof EmailMessageDetails.Type
