import { Schema } from "effect"
import { Mode } from "../values/TestMode.ts"
import { Timestamp } from "../values/Timestamp.ts"

/** The channels of the list of all messages. */
export const SummaryChannel = Schema.Literals(["email", "sms", "whatsapp"])
export type SummaryChannel = typeof SummaryChannel.Type

/** Every status that a message of any channel has. */
export const AnyStatus = Schema.Literals([
  "scheduled",
  "queued",
  "sent",
  "delivered",
  "opened",
  "clicked",
  "read",
  "received",
  "bounced",
  "complained",
  "failed",
  "suppressed",
  "canceled"
])
export type AnyStatus = typeof AnyStatus.Type

/** A message of any channel, as the list of all messages shows it. */
export const MessageSummary = Schema.Struct({
  id: Schema.Union([Schema.Int, Schema.String]).annotate({ description: "unique within the channel" }),
  channel: SummaryChannel,
  direction: Schema.Literals(["in", "out"]),
  from: Schema.NullOr(Schema.String).annotate({
    description: "The sender; null if WhatsApp hides its number, or if the session or the carrier sets it"
  }),
  to: Schema.Union([Schema.String, Schema.Array(Schema.String)]).annotate({
    description: "a list for an email to several addresses"
  }),
  status: AnyStatus,
  type: Schema.String.annotate({ description: "`email`, `code`, or the type of a WhatsApp message" }),
  batch_id: Schema.NullOr(Schema.String),
  failover_id: Schema.NullOr(Schema.String),
  tags: Schema.Array(Schema.String),
  metadata: Schema.Record(Schema.String, Schema.String),
  mode: Mode,
  preview: Schema.String.annotate({
    description:
      "The subject of an email, or the first 200 characters of a text; empty once it is older than contents are kept"
  }),
  error: Schema.NullOr(Schema.String),
  created_at: Timestamp,
  updated_at: Timestamp.annotate({ description: "when the status last changed" }),
  href: Schema.String.annotate({ description: "the path of the whole record" })
}).annotate({ identifier: "MessageSummary" })
export type MessageSummary = typeof MessageSummary.Type
