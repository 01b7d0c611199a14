import { Schema, Struct } from "effect"
import { NewEmail } from "../channels/email/single/EmailApi.ts"
import { NewSms } from "../channels/sms/SmsApi.ts"
import { ChatName } from "../channels/whatsapp/content/MessageContent.ts"
import { NewMessage } from "../channels/whatsapp/outbox/MessagesApi.ts"
import { sendFields, sendRecord } from "../messages/sendFields.ts"
import { EmailAddress } from "../values/EmailAddress.ts"
import { FailoverId } from "../values/Ids.ts"
import { PhoneNumber } from "../values/PhoneNumber.ts"
import { Timestamp } from "../values/Timestamp.ts"

const maxSteps = 5
const maxSeconds = 3 * 24 * 60 * 60

const Until = Schema.Literals(["sent", "delivered", "read"])
export type Until = typeof Until.Type

/** How far the message of a step has come. waiting: it has not begun. */
export const StepProgress = Schema.Literals(["waiting", "queued", "sent", "delivered", "read", "failed", "canceled"])
export type StepProgress = typeof StepProgress.Type

const WithinSeconds = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxSeconds }, {
  message: `must be a whole number of seconds from 1 to ${maxSeconds}`
}))

/** When the next step begins. */
const timing = {
  until: Schema.optionalKey(Until.annotate({
    description: "What the step has to reach; defaults to delivered. SMS carriers never say read"
  })),
  within_seconds: Schema.optionalKey(WithinSeconds.annotate({
    description:
      "Seconds for that, from the moment the channel hands the message over; defaults to 300. A message that still waits by then, from the step's beginning, is withdrawn"
  }))
}

const whole = ["to", "tags", "metadata", "send_at"] as const

const WhatsAppStep = Schema.Struct({
  channel: Schema.Literal("whatsapp"),
  ...timing,
  ...Struct.omit(NewMessage.fields, ["group_id", ...whole]),
  to: Schema.optionalKey(ChatName)
})

const SmsStep = Schema.Struct({
  channel: Schema.Literal("sms"),
  ...timing,
  until: Schema.optionalKey(Schema.Literals(["sent", "delivered"])),
  ...Struct.omit(NewSms.fields, whole),
  to: Schema.optionalKey(PhoneNumber)
})

const EmailStep = Schema.Struct({
  channel: Schema.Literal("email"),
  ...timing,
  ...Struct.omit(NewEmail.fields, ["cc", "bcc", "attachments", ...whole]),
  to: Schema.optionalKey(EmailAddress)
})

/** One attempt to reach the person, by one channel. */
export const Step = Schema.Union([WhatsAppStep, SmsStep, EmailStep]).annotate({
  expected: "an object whose channel is whatsapp, sms or email"
})
export type Step = typeof Step.Type

/** A message with steps: each next one follows when the one before fails or is not reached in time. */
export const NewFailover = Schema.Struct({
  to: Schema.Struct({
    phone: Schema.optionalKey(PhoneNumber),
    email: Schema.optionalKey(EmailAddress)
  }).annotate({ description: "The person's addresses. A step may have its own" }),
  steps: Schema.Array(Step).check(
    Schema.isMinLength(1, { message: "must have at least one step" }),
    Schema.isMaxLength(maxSteps, { message: `must have at most ${maxSteps} steps` })
  ),
  ...sendFields
}).annotate({ identifier: "NewFailover" })
export type NewFailover = typeof NewFailover.Type

const statuses = ["scheduled", "queued", "processing", "sent", "delivered", "read", "failed", "canceled"] as const

export const FailoverStatus = Schema.Literals(statuses)
export type FailoverStatus = typeof FailoverStatus.Type

/** What is stored of a step and its message. */
export const stepFields = {
  channel: Schema.Literals(["whatsapp", "sms", "email"]),
  to: Schema.String,
  until: Until,
  within_seconds: Schema.Int,
  status: StepProgress,
  message_id: Schema.NullOr(Schema.Int).annotate({ description: "null before it begins, or if it was refused then" }),
  error: Schema.NullOr(Schema.String),
  cost_usd: Schema.NullOr(Schema.Finite),
  begun_at: Schema.NullOr(Timestamp),
  sent_at: Schema.NullOr(Timestamp),
  delivered_at: Schema.NullOr(Timestamp)
}

const StepRecord = Schema.Struct({
  ...stepFields,
  href: Schema.NullOr(Schema.String).annotate({ description: "The path of its message" })
}).annotate({ identifier: "FailoverStep" })
/** The record of a message with steps. */
export const Failover = Schema.Struct({
  id: FailoverId,
  to: Schema.Struct({ phone: Schema.NullOr(Schema.String), email: Schema.NullOr(Schema.String) }),
  status: FailoverStatus.annotate({ description: "The best that any step has reached" }),
  steps: Schema.Array(StepRecord),
  cost_usd: Schema.Finite,
  ...sendRecord,
  canceled_at: Schema.NullOr(Timestamp),
  completed_at: Schema.NullOr(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp
}).annotate({ identifier: "Failover" })
export type Failover = typeof Failover.Type
