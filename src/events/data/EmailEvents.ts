import { Schema } from "effect"
import { EmailBatchId, EmailMessageId } from "../../values/Ids.ts"
import { labels, messageLabels } from "../../values/Labels.ts"
import { Timestamp } from "../../values/Timestamp.ts"
import { withExamples } from "./withExamples.ts"

const time = "2030-01-31T09:00:00.000000Z"

const Email = {
  id: EmailMessageId,
  batch_id: Schema.NullOr(EmailBatchId).annotate({ description: "null for a single email" }),
  to: Schema.String,
  subject: Schema.String,
  ...messageLabels
}
const email = {
  id: 901,
  batch_id: null,
  to: "ada@example.com",
  subject: "Your receipt",
  tags: ["receipt"],
  metadata: { order: "A-17" },
  failover_id: null
}

export const EmailSent = withExamples(Schema.Struct({ ...Email, sent_at: Timestamp }), { ...email, sent_at: time })

export const EmailDelivered = withExamples(
  Schema.Struct({ ...Email, delivered_at: Timestamp }),
  { ...email, delivered_at: time }
)

const machine = Schema.Boolean.annotate({ description: "loaded by a mail proxy or a scanner, not by a reader" })

export const EmailOpened = withExamples(
  Schema.Struct({ ...Email, opened_at: Timestamp, machine }),
  { ...email, opened_at: time, machine: false }
)

const bot = Schema.Boolean.annotate({ description: "followed by a scanner, not by a reader" })

export const EmailClicked = withExamples(
  Schema.Struct({ ...Email, clicked_at: Timestamp, url: Schema.String, bot }),
  { ...email, clicked_at: time, url: "https://example.com/orders/1", bot: false }
)

export const EmailBounced = withExamples(
  Schema.Struct({
    ...Email,
    bounced_at: Timestamp,
    bounce_type: Schema.Literals(["hard", "soft"]),
    error: Schema.String.annotate({ description: "the mail server's answer" })
  }),
  { ...email, bounced_at: time, bounce_type: "hard", error: "550 5.1.1 User unknown" }
)

export const EmailComplained = withExamples(
  Schema.Struct({ ...Email, complained_at: Timestamp }),
  { ...email, complained_at: time }
)

const error = Schema.String.annotate({ description: "why, in one line" })

export const EmailFailed = withExamples(
  Schema.Struct({ ...Email, failed_at: Timestamp, error }),
  { ...email, failed_at: time, error: "the relay may have accepted it, but did not confirm: timeout" }
)

export const EmailSuppressed = withExamples(
  Schema.Struct({ ...Email, suppressed_at: Timestamp }),
  { ...email, suppressed_at: time }
)

export const EmailDeliveryDelayed = withExamples(
  Schema.Struct({
    ...Email,
    delayed_at: Timestamp,
    attempt: Schema.NullOr(Schema.Int).annotate({
      description: "how many attempts have failed; null if another mail server delays it"
    }),
    next_attempt_at: Schema.NullOr(Timestamp).annotate({ description: "null if another mail server delays it" }),
    error: Schema.String.annotate({ description: "the answer to the attempt, or the reason of the delay" })
  }),
  {
    ...email,
    delayed_at: time,
    attempt: 1,
    next_attempt_at: "2030-01-31T09:01:00.000000Z",
    error: "451 4.7.1 Greylisted, try again later"
  }
)

export const EmailCanceled = withExamples(Schema.Struct({ ...Email, canceled_at: Timestamp }), {
  ...email,
  canceled_at: time
})

export const EmailBulkCompleted = withExamples(
  Schema.Struct({
    batch_id: EmailBatchId,
    ...labels,
    total: Schema.Int,
    sent: Schema.Int,
    failed: Schema.Int,
    suppressed: Schema.Int,
    canceled: Schema.Int.annotate({ description: "how many were still queued when the batch was canceled" }),
    completed_at: Timestamp
  }),
  {
    batch_id: "email_batch_01HZX3T5K8Q2W4Y6B9D1F3H5J7",
    tags: ["news"],
    metadata: { issue: "2030-01" },
    total: 500,
    sent: 498,
    failed: 1,
    suppressed: 1,
    canceled: 0,
    completed_at: time
  }
)
