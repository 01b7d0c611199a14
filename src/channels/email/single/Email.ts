import { Schema } from "effect"
import { messageRecord } from "../../../messages/sendFields.ts"
import { wire } from "../../../platform/http/ApiError.ts"
import { EmailBatchId, EmailMessageId, TemplateId } from "../../../values/Ids.ts"
import { Timestamp } from "../../../values/Timestamp.ts"
import { RecipientStatus } from "../recipients/MessageState.ts"
import { Mailbox } from "../request/Mailbox.ts"

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
 * The record of a single email, or of one recipient of a batch. An email to several recipients shows their sum: queued
 * while one is queued, then the furthest status (complained, clicked, opened, delivered, sent), and if none received it,
 * bounced, failed or suppressed in this order. `error` and `bounce_type` come from the first recipient that has them.
 * Times are the earliest ones, and opens and clicks are totals.
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
  ...messageRecord,
  ...progress,
  created_at: Timestamp
}).annotate({ identifier: "EmailMessage" })
export type Email = typeof Email.Type

/** The status of one recipient of an email. */
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
  internet_message_id: Schema.NullOr(Schema.String).annotate({
    description:
      "The Message-ID of the mail, which its readers and other mail servers know. message_id of the other answers is the id of the record. null for a single email that an earlier version accepted. A person who knows it can report this mail as bounced or as spam, as its receiver can"
  }),
  recipients: Schema.Array(EmailRecipient)
}).annotate({ identifier: "EmailMessageDetails" })
export type EmailMessageDetails = typeof EmailMessageDetails.Type

const Attachment = Schema.Struct({
  filename: Schema.NullOr(Schema.String),
  content_type: Schema.NullOr(Schema.String),
  size: Schema.Int.annotate({ description: "In bytes" })
})

/** What an email says. */
export const EmailContent = Schema.Struct({
  from: Mailbox,
  reply_to: Schema.NullOr(Mailbox),
  subject: Schema.String,
  html: Schema.NullOr(Schema.String).annotate({ description: "null without HTML, and once it is no longer kept" }),
  text: Schema.NullOr(Schema.String).annotate({ description: "null once it is no longer kept" }),
  attachments: Schema.Array(Attachment)
}).annotate({ identifier: "EmailMessageContent" })
export type EmailContent = typeof EmailContent.Type

/** The texts of the email are no longer kept. */
export class SourceGone extends Schema.TaggedError<SourceGone>()("SourceGone", {}, wire(410, "source_gone", 4107)) {
  override get message() {
    return "The source of this email is no longer kept: its texts are deleted a day after it has ended. Read its record instead."
  }
}
