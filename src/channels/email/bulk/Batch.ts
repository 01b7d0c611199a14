import { Schema } from "effect"
import { BatchStatus } from "../../../values/BatchStatus.ts"
import { EmailBatchId, EmailMessageId } from "../../../values/Ids.ts"
import { Timestamp } from "../../../values/Timestamp.ts"

/** total = queued + sent + failed + suppressed + canceled at every moment; one being sent counts as queued. */
export const Batch = Schema.Struct({
  batch_id: EmailBatchId,
  status: BatchStatus,
  total: Schema.Int,
  queued: Schema.Int,
  sent: Schema.Int,
  failed: Schema.Int,
  suppressed: Schema.Int,
  canceled: Schema.Int,
  created_at: Timestamp,
  completed_at: Schema.NullOr(Timestamp)
})
export type Batch = typeof Batch.Type

export const RecipientStatus = Schema.Literals([
  "queued",
  "sent",
  "delivered",
  "opened",
  "clicked",
  "bounced",
  "complained",
  "failed",
  "suppressed",
  "canceled"
])

/** One recipient of a batch, as the list of recipients shows it. */
export const BatchRecipient = Schema.Struct({
  id: EmailMessageId,
  to: Schema.String,
  status: RecipientStatus,
  attempt_count: Schema.Int,
  next_attempt_at: Schema.NullOr(Timestamp),
  bounce_type: Schema.NullOr(Schema.Literals(["hard", "soft"])),
  error: Schema.NullOr(Schema.String),
  sent_at: Schema.NullOr(Timestamp),
  opens: Schema.Int.annotate({ description: "How often the mail was opened, programs included" }),
  clicks: Schema.Int.annotate({ description: "How often its links were followed, programs included" })
})
export type BatchRecipient = typeof BatchRecipient.Type
