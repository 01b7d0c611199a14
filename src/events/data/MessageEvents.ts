import { Schema } from "effect"
import { FailoverId } from "../../values/Ids.ts"
import { labels, messageLabels } from "../../values/Labels.ts"
import { Timestamp } from "../../values/Timestamp.ts"
import { withExamples } from "./withExamples.ts"

const time = "2030-01-31T09:00:00.000000Z"

const WhatsAppMessage = {
  channel: Schema.Literal("whatsapp"),
  message_id: Schema.Int,
  session_id: Schema.Int
}
const SmsMessage = {
  channel: Schema.Literal("sms"),
  message_id: Schema.Int,
  session_id: Schema.Null,
  segments: Schema.Int,
  cost_usd: Schema.Finite
}

/** An outbound message repeats what its request said about it. */
const WhatsAppOut = { ...WhatsAppMessage, ...messageLabels }
const SmsOut = { ...SmsMessage, ...messageLabels }

/** A message with failover reports its end in the generic form of spec 6.5, under its own id. */
const Whole = {
  id: FailoverId,
  to: Schema.String.annotate({ description: "the address of the step that came furthest" }),
  channel: Schema.NullOr(Schema.Literals(["whatsapp", "sms", "email"])).annotate({
    description: "the channel of that step"
  }),
  ...labels
}
const whole = {
  id: FailoverId.make("msg_01HZX3T5K8Q2W4Y6B9D1F3H5J7"),
  to: "+15550100200",
  channel: "sms",
  tags: ["booking"],
  metadata: { order: "A-17" }
} as const

const given = { tags: ["booking"], metadata: { order: "A-17" }, failover_id: null }
const whatsApp = { channel: "whatsapp", message_id: 501, session_id: 12 } as const
const whatsAppOut = { ...whatsApp, ...given }
const sms = { channel: "sms", message_id: 502, session_id: null, segments: 1, cost_usd: 0.0079, ...given } as const

const Sent = { to: Schema.String, type: Schema.String, status: Schema.Literal("sent") }
const sent = { to: "+15550100200", type: "text", status: "sent" } as const

const Queued = { to: Schema.String, type: Schema.String, status: Schema.Literal("queued") }
const queued = { to: "+15550100200", type: "text", status: "queued" } as const

export const MessageQueued = withExamples(
  Schema.Union([Schema.Struct({ ...WhatsAppOut, ...Queued }), Schema.Struct({ ...SmsOut, ...Queued })]),
  { ...whatsAppOut, ...queued },
  { ...sms, ...queued }
)

const Canceled = {
  to: Schema.String,
  type: Schema.String,
  status: Schema.Literal("canceled"),
  canceled_at: Timestamp
}
const canceled = { to: "+15550100200", type: "text", status: "canceled", canceled_at: time } as const

export const MessageCanceled = withExamples(
  Schema.Union([Schema.Struct({ ...WhatsAppOut, ...Canceled }), Schema.Struct({ ...SmsOut, ...Canceled })]),
  { ...whatsAppOut, ...canceled },
  { ...sms, ...canceled }
)

export const MessageSent = withExamples(
  Schema.Union([
    Schema.Struct({ ...WhatsAppOut, ...Sent }),
    Schema.Struct({ ...SmsOut, ...Sent }),
    Schema.Struct({ ...Whole, status: Schema.Literal("sent") })
  ]),
  { ...whatsAppOut, ...sent },
  { ...sms, ...sent },
  { ...whole, status: "sent" }
)

/** SMS adds the generic delivery payload of spec 6.5: `id`, `to` and `status`. */
export const MessageDelivered = withExamples(
  Schema.Union([
    Schema.Struct({ ...WhatsAppOut, delivered_at: Timestamp }),
    Schema.Struct({
      ...SmsOut,
      id: Schema.Int.annotate({ description: "`message_id` again" }),
      to: Schema.String,
      status: Schema.Literal("delivered"),
      delivered_at: Timestamp
    }),
    Schema.Struct({ ...Whole, status: Schema.Literal("delivered"), delivered_at: Timestamp })
  ]),
  { ...whatsAppOut, delivered_at: time },
  { ...sms, id: 502, to: "+15550100200", status: "delivered", delivered_at: time },
  { ...whole, status: "delivered", delivered_at: time }
)

export const MessageRead = withExamples(
  Schema.Struct({ ...WhatsAppOut, read_at: Timestamp }),
  { ...whatsAppOut, read_at: time }
)

const Failed = { error_code: Schema.String, error_message: Schema.String }

export const MessageFailed = withExamples(
  Schema.Union([
    Schema.Struct({ ...WhatsAppOut, ...Failed }),
    Schema.Struct({ ...SmsOut, ...Failed }),
    Schema.Struct({ ...Whole, status: Schema.Literal("failed"), ...Failed })
  ]),
  { ...whatsAppOut, error_code: "recipient_not_on_whatsapp", error_message: "The recipient does not use WhatsApp." },
  { ...sms, error_code: "rejected", error_message: "The operator rejected the message." },
  { ...whole, status: "failed", error_code: "no_step_arrived", error_message: "The operator rejected the message." }
)

const content = Schema.StructWithRest(Schema.Struct({ body: Schema.String }), [
  Schema.Record(Schema.String, Schema.Json)
]).annotate({ description: "the fields of its type, and always `body`, which is the caption of a medium" })

export const MessageReceived = withExamples(
  Schema.Struct({
    ...WhatsAppMessage,
    from: Schema.NullOr(Schema.String.check(Schema.isPattern(/^\+\d+$/))).annotate({
      description: "null if WhatsApp hides the sender's number; then `lid` is present"
    }),
    lid: Schema.NullOr(Schema.String).annotate({ description: "the sender's anonymous id, if `from` is null" }),
    group_id: Schema.NullOr(Schema.Int).annotate({ description: "the group that it was sent to, if any" }),
    type: Schema.String,
    content,
    received_at: Timestamp
  }),
  {
    ...whatsApp,
    from: "+15550100200",
    lid: null,
    group_id: null,
    type: "text",
    content: { body: "Hello" },
    received_at: time
  }
)
