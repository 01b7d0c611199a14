import { Schema } from "effect"
import { MessageBatchId, MessageId } from "../values/Ids.ts"
import { tagQuery } from "../values/Labels.ts"
import { sortedPageQuery } from "../values/Page.ts"
import { Timestamp } from "../values/Timestamp.ts"
import { messageRecord, sendRecord } from "./sendFields.ts"

/** The progress of a batch of any channel (spec 3.4). failed: nothing of it could be sent. */
export const BatchStatus = Schema.Literals(["scheduled", "queued", "processing", "completed", "failed", "canceled"])

/** Channels with numbered messages (spec 3.6). Emails have separate records. */
export const Channel = Schema.Literals(["whatsapp", "sms"])
export type Channel = typeof Channel.Type

/** Inbound messages stay `received`. Outbound ones pass scheduled, queued, sent, delivered and read. */
export const MessageStatus = Schema.Literals([
  "scheduled",
  "queued",
  "sent",
  "delivered",
  "read",
  "failed",
  "received",
  "canceled"
])
export type MessageStatus = typeof MessageStatus.Type

/** The content of a message. `body` is its text or caption; a type may have more fields. */
export const MessageContent = Schema.StructWithRest(Schema.Struct({ body: Schema.String }), [
  Schema.Record(Schema.String, Schema.Json)
])

export type MessageContent = typeof MessageContent.Type

/** The record of a message (spec 2.9), of either channel. */
export const Message = Schema.Struct({
  id: MessageId,
  channel: Channel,
  session_id: Schema.NullOr(Schema.Int),
  direction: Schema.Literals(["in", "out"]),
  from: Schema.NullOr(Schema.String),
  to: Schema.String,
  type: Schema.String,
  content: Schema.NullOr(MessageContent).annotate({ description: "null once it is older than contents are kept" }),
  status: MessageStatus,
  error_code: Schema.NullOr(Schema.String),
  error_message: Schema.NullOr(Schema.String),
  segments: Schema.NullOr(Schema.Int),
  cost_usd: Schema.NullOr(Schema.Finite),
  batch_id: Schema.NullOr(MessageBatchId),
  ...messageRecord,
  sent_at: Schema.NullOr(Timestamp),
  delivered_at: Schema.NullOr(Timestamp),
  read_at: Schema.NullOr(Timestamp),
  failed_at: Schema.NullOr(Timestamp),
  created_at: Timestamp
}).annotate({ identifier: "Message" })
export type Message = typeof Message.Type

/** The query parameters of every list of batches. */
export const messageBatchQuery = { ...sortedPageQuery, ...tagQuery, status: Schema.optionalKey(BatchStatus) }

/** total = queued + sent + failed + suppressed + canceled at every moment, as for email. suppressed is always 0. */
export const MessageBatch = Schema.Struct({
  batch_id: MessageBatchId,
  status: BatchStatus,
  total: Schema.Int,
  queued: Schema.Int,
  sent: Schema.Int,
  failed: Schema.Int,
  suppressed: Schema.Int,
  canceled: Schema.Int,
  ...sendRecord,
  created_at: Timestamp,
  started_at: Schema.NullOr(Timestamp).annotate({
    description: "When its first message was sent or failed. null for a batch that was canceled before"
  }),
  completed_at: Schema.NullOr(Timestamp),
  resent_as: Schema.NullOr(MessageBatchId).annotate({
    description: "The batch that sends it again to the failed recipients"
  })
}).annotate({ identifier: "MessageBatch" })
export type MessageBatch = typeof MessageBatch.Type
