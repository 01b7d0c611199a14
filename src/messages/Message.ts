import { Schema } from "effect"
import { MessageBatchId, MessageId } from "../values/Ids.ts"
import { Timestamp } from "../values/Timestamp.ts"

/** Channels whose messages are told apart by a number (spec 3.6); email has records of its own. */
export const Channel = Schema.Literals(["whatsapp", "sms"])
export type Channel = typeof Channel.Type

/** `received` is where a message from outside begins and ends; every other one goes queued, sent, delivered, read. */
export const MessageStatus = Schema.Literals([
  "queued",
  "sent",
  "delivered",
  "read",
  "failed",
  "received",
  "canceled"
])
export type MessageStatus = typeof MessageStatus.Type

/** What a message is made of: `body` is its text or its caption; a type may have more. */
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
  content: MessageContent,
  status: MessageStatus,
  error_code: Schema.NullOr(Schema.String),
  error_message: Schema.NullOr(Schema.String),
  segments: Schema.NullOr(Schema.Int),
  cost_usd: Schema.NullOr(Schema.Finite),
  batch_id: Schema.NullOr(MessageBatchId),
  sent_at: Schema.NullOr(Timestamp),
  delivered_at: Schema.NullOr(Timestamp),
  read_at: Schema.NullOr(Timestamp),
  failed_at: Schema.NullOr(Timestamp),
  created_at: Timestamp
})
export type Message = typeof Message.Type
