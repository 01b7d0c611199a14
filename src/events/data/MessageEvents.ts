import { Schema } from "effect"
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

const whatsApp = { channel: "whatsapp", message_id: 501, session_id: 12 } as const
const sms = { channel: "sms", message_id: 502, session_id: null, segments: 1, cost_usd: 0.0079 } as const

const Sent = { to: Schema.String, type: Schema.String, status: Schema.Literal("sent") }
const sent = { to: "+15550100200", type: "text", status: "sent" } as const

export const MessageSent = withExamples(
  Schema.Union([Schema.Struct({ ...WhatsAppMessage, ...Sent }), Schema.Struct({ ...SmsMessage, ...Sent })]),
  { ...whatsApp, ...sent },
  { ...sms, ...sent }
)

/** SMS adds the generic delivery payload of spec 6.5: `id`, `to` and `status`. */
export const MessageDelivered = withExamples(
  Schema.Union([
    Schema.Struct({ ...WhatsAppMessage, delivered_at: Timestamp }),
    Schema.Struct({
      ...SmsMessage,
      id: Schema.Int.annotate({ description: "`message_id` again" }),
      to: Schema.String,
      status: Schema.Literal("delivered"),
      delivered_at: Timestamp
    })
  ]),
  { ...whatsApp, delivered_at: time },
  { ...sms, id: 502, to: "+15550100200", status: "delivered", delivered_at: time }
)

export const MessageRead = withExamples(
  Schema.Struct({ ...WhatsAppMessage, read_at: Timestamp }),
  { ...whatsApp, read_at: time }
)

const Failed = { error_code: Schema.String, error_message: Schema.String }

export const MessageFailed = withExamples(
  Schema.Union([Schema.Struct({ ...WhatsAppMessage, ...Failed }), Schema.Struct({ ...SmsMessage, ...Failed })]),
  { ...whatsApp, error_code: "recipient_not_on_whatsapp", error_message: "The recipient does not use WhatsApp." },
  { ...sms, error_code: "rejected", error_message: "The operator rejected the message." }
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
