import { Schema } from "effect"
import { BatchStatus } from "../../../messages/Message.ts"
import { sendRecord } from "../../../messages/sendFields.ts"
import { EmailBatchId, EmailMessageId } from "../../../values/Ids.ts"
import { Timestamp } from "../../../values/Timestamp.ts"
import { RecipientStatus } from "../recipients/MessageState.ts"

/** A batch. Always total = queued + sent + failed + suppressed + canceled; a recipient being sent counts as queued. */
export const Batch = Schema.Struct({
  batch_id: EmailBatchId,
  status: BatchStatus,
  total: Schema.Int,
  queued: Schema.Int,
  sent: Schema.Int,
  failed: Schema.Int,
  suppressed: Schema.Int,
  canceled: Schema.Int,
  ...sendRecord,
  created_at: Timestamp,
  started_at: Schema.NullOr(Timestamp).annotate({ description: "When its first message began to be sent" }),
  completed_at: Schema.NullOr(Timestamp),
  resent_as: Schema.NullOr(EmailBatchId).annotate({
    description: "The batch that sends it again to the failed recipients"
  })
}).annotate({ identifier: "EmailBatch" })
export type Batch = typeof Batch.Type

/** The part of a batch that the Message-IDs of its messages share. */
export const uniqueOf = (id: EmailBatchId): string => id.slice("email_batch_".length).toLowerCase()

/** One recipient in the list of a batch's recipients. */
export const BatchRecipient = Schema.Struct({
  id: EmailMessageId,
  to: Schema.String,
  status: RecipientStatus,
  attempt_count: Schema.Int,
  next_attempt_at: Schema.NullOr(Timestamp),
  bounce_type: Schema.NullOr(Schema.Literals(["hard", "soft"])),
  error: Schema.NullOr(Schema.String),
  sent_at: Schema.NullOr(Timestamp),
  opens: Schema.Int.annotate({ description: "Times that the mail was opened, including by programs" }),
  clicks: Schema.Int.annotate({ description: "Times that its links were clicked, including by programs" })
}).annotate({ identifier: "EmailBatchRecipient" })
export type BatchRecipient = typeof BatchRecipient.Type
