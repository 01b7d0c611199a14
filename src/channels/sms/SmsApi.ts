import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Message, MessageBatch, messageBatchQuery } from "../../messages/Message.ts"
import { MessageOver, Reschedule } from "../../messages/MessageOver.ts"
import { messageQuery } from "../../messages/messageQuery.ts"
import { acceptedFields, sendFields } from "../../messages/sendFields.ts"
import * as Access from "../../platform/http/Access.ts"
import { apiErrors } from "../../platform/http/ApiError.ts"
import { NotFound, PlanLimitExceeded, ValidationFailed } from "../../platform/http/ApiErrors.ts"
import { Authentication } from "../../platform/http/Authentication.ts"
import { BodyLimit, bulk, RequestRules, WaitsOutside } from "../../platform/http/RequestRules.ts"
import { bulkFields } from "../../templates/Recipients.ts"
import { MessageBatchId, MessageId, pathId } from "../../values/Ids.ts"
import { Data, Done, Paged, pageQuery } from "../../values/Page.ts"
import { PhoneNumber } from "../../values/PhoneNumber.ts"
import { notBlank, textBetween } from "../../values/Text.ts"
import { LinkState } from "./parts/SmsLink.ts"
import { UnsupportedDestination } from "./SmsErrors.ts"
import { SmsStatisticsReport } from "./SmsStatisticsReport.ts"
import { maxTextLength, SenderId } from "./text/segments.ts"

const Content = textBetween(1, maxTextLength).check(notBlank)

export const NewSms = Schema.Struct({
  to: PhoneNumber,
  content: Content,
  sender_id: Schema.optionalKey(SenderId),
  ...sendFields
}).annotate({ identifier: "NewSms" })
export type NewSms = typeof NewSms.Type

/** One text for up to 500 numbers, each with its values. */
export const NewSmsBatch = Schema.Struct({
  ...bulkFields(PhoneNumber, "a number"),
  content: Content,
  sender_id: Schema.optionalKey(SenderId),
  ...sendFields
}).annotate({ identifier: "NewSmsBatch" })
export type NewSmsBatch = typeof NewSmsBatch.Type

const AcceptedSms = Schema.Struct({
  id: MessageId,
  message_id: MessageId.annotate({ description: "The same as id" }),
  to: Schema.String,
  status: Schema.Literals(["queued", "scheduled"]),
  ...acceptedFields,
  segments: Schema.Int,
  cost_usd: Schema.Finite
}).annotate({ identifier: "AcceptedSms" })
export type AcceptedSms = typeof AcceptedSms.Type

const AcceptedSmsBatch = Schema.Struct({
  batch_id: MessageBatchId,
  total_recipients: Schema.Int,
  status: Schema.Literals(["queued", "scheduled"]),
  ...acceptedFields,
  message: Schema.String,
  segments: Schema.Int.annotate({ description: "Of all messages" }),
  cost_usd: Schema.Finite
}).annotate({ identifier: "AcceptedSmsBatch" })
export type AcceptedSmsBatch = typeof AcceptedSmsBatch.Type

const SenderIdEntry = Schema.Struct({
  sender_id: Schema.String,
  type: Schema.Literals(["alphanumeric", "number", "short_code"]),
  is_default: Schema.Boolean
}).annotate({ identifier: "SenderId" })
export type SenderIdEntry = typeof SenderIdEntry.Type

/** What an SMS would be, if it were sent now. */
const SmsPreview = Schema.Struct({
  to: Schema.String,
  sender_id: Schema.NullOr(Schema.String).annotate({
    description: "The sender that it would show; null: the carrier's"
  }),
  encoding: Schema.Literals(["gsm7", "ucs2"]).annotate({
    description: "ucs2 for a text with a character outside the GSM alphabet"
  }),
  segments: Schema.Int,
  cost_usd: Schema.Finite
}).annotate({ identifier: "SmsPreview" })
export type SmsPreview = typeof SmsPreview.Type

const Link = Schema.Struct({
  provider: Schema.Literals(["smpp", "http", "sandbox"]).annotate({
    description: "smpp: a carrier over SMPP; http: a provider that gets requests; sandbox: no text reaches a phone"
  }),
  link: Schema.NullOr(LinkState).annotate({
    description: "null if the provider is not smpp, and while the node that keeps the link does not answer"
  })
}).annotate({ identifier: "SmsLink" })

/** The fields of an SMS that decide what it costs. */
const PreviewedSms = Schema.Struct({
  to: NewSms.fields.to,
  content: NewSms.fields.content,
  sender_id: NewSms.fields.sender_id
}).annotate({ identifier: "PreviewedSms" })
export type PreviewedSms = typeof PreviewedSms.Type

const sending = Access.channel(["sms:write"], "sms:write", { paid: "sending" })
const reading = Access.channel(["sms:write"], "sms:read")

const send = HttpApiEndpoint.post("send", "/send", {
  payload: NewSms,
  success: Done(AcceptedSms).pipe(HttpApiSchema.status(202)),
  error: apiErrors(ValidationFailed, UnsupportedDestination, PlanLimitExceeded)
})
  .annotate(Access.Access, sending)
  .annotateMerge(OpenApi.annotations({
    summary: "Send an SMS",
    description:
      "Queues one message of at most 1,600 characters and 10 segments. The current price of its country and its segments applies and does not change later. A text with a character outside the GSM alphabet is sent in UCS-2, with 70 characters in a single segment or 67 in each of several."
  }))

const preview = HttpApiEndpoint.post("preview", "/preview", {
  payload: PreviewedSms,
  success: Data(SmsPreview),
  error: apiErrors(ValidationFailed, UnsupportedDestination)
})
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "Preview an SMS",
    description:
      "Returns the sender, the segments and the price of an SMS, and sends nothing. It is refused if the SMS would be refused for its number, text or sender. The price may change before the SMS is sent; with a test key it is 0."
  }))

const sendBulk = HttpApiEndpoint.post("sendBulk", "/send-bulk", {
  payload: NewSmsBatch,
  success: Done(AcceptedSmsBatch).pipe(HttpApiSchema.status(202)),
  error: apiErrors(ValidationFailed, UnsupportedDestination, PlanLimitExceeded)
})
  .annotate(Access.Access, sending)
  .annotate(BodyLimit, bulk)
  .annotateMerge(OpenApi.annotations({
    summary: "Send one SMS to many recipients",
    description:
      "Queues up to 500 messages, all or none. Each {{variable}} of content needs a value from every recipient or a default: {{name|there}}. Single messages go first: while they wait, at most every fourth submit is one of these."
  }))

const batches = HttpApiEndpoint.get("batches", "/batches", {
  query: messageBatchQuery,
  success: Paged(MessageBatch),
  error: apiErrors(ValidationFailed)
})
  .annotate(Access.Access, reading)
  .annotateMerge(
    OpenApi.annotations({
      summary: "List batches of SMS",
      description: "Newest first, or in the order of sort. Each has its counts."
    })
  )

const batch = HttpApiEndpoint.get("batch", "/batches/:batch_id", {
  params: { batch_id: MessageBatchId },
  success: Data(MessageBatch),
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({ summary: "Read a batch of SMS", description: "Its status and its counts." }))

const resend = HttpApiEndpoint.post("resend", "/batches/:batch_id/resend", {
  params: { batch_id: MessageBatchId },
  success: Done(MessageBatch).pipe(HttpApiSchema.status(202)),
  error: apiErrors(NotFound, ValidationFailed, UnsupportedDestination, PlanLimitExceeded)
})
  .annotate(Access.Access, sending)
  .annotateMerge(OpenApi.annotations({
    summary: "Send a batch of SMS again to failed recipients",
    description:
      "Makes a new batch with the same content for the recipients that an ended batch did not reach, and answers with it. A batch is sent again once: a repeated request answers with the same new batch. A text that is no longer kept cannot be sent again."
  }))

const cancel = HttpApiEndpoint.post("cancel", "/batches/:batch_id/cancel", {
  params: { batch_id: MessageBatchId },
  success: Done(MessageBatch),
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, Access.channel(["sms:write"], "sms:write"))
  .annotate(WaitsOutside, true)
  .annotateMerge(OpenApi.annotations({
    summary: "Cancel a batch of SMS",
    description:
      "Cancels all messages of which no part is being submitted or was submitted. After the answer no further message begins; those being sent count as queued until they end, mostly within a second. Canceling again changes nothing."
  }))

const writing = Access.channel(["sms:write"], "sms:write")

const rescheduleBatch = HttpApiEndpoint.patch("rescheduleBatch", "/batches/:batch_id", {
  params: { batch_id: MessageBatchId },
  payload: Reschedule,
  success: Data(MessageBatch),
  error: apiErrors(NotFound, MessageOver, ValidationFailed)
})
  .annotate(Access.Access, writing)
  .annotateMerge(
    OpenApi.annotations({ summary: "Reschedule a batch of SMS", description: "Gives a scheduled batch another time." })
  )

const cancelOne = HttpApiEndpoint.post("cancelOne", "/messages/:id/cancel", {
  params: { id: pathId(MessageId) },
  success: Done(Message),
  error: apiErrors(NotFound, MessageOver)
})
  .annotate(Access.Access, writing)
  .annotate(WaitsOutside, true)
  .annotateMerge(OpenApi.annotations({
    summary: "Cancel an SMS",
    description:
      "Cancels a message of which no part is being submitted or was submitted, and gives back its quota and its cost. Otherwise nothing changes and the answer is 409 with the status."
  }))

const reschedule = HttpApiEndpoint.patch("reschedule", "/messages/:id", {
  params: { id: pathId(MessageId) },
  payload: Reschedule,
  success: Data(Message),
  error: apiErrors(NotFound, MessageOver, ValidationFailed)
})
  .annotate(Access.Access, writing)
  .annotateMerge(
    OpenApi.annotations({ summary: "Reschedule an SMS", description: "Gives a scheduled message another time." })
  )

const list = HttpApiEndpoint.get("list", "/messages", {
  query: messageQuery(PhoneNumber),
  success: Paged(Message),
  error: apiErrors(ValidationFailed)
})
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "List SMS",
    description:
      "Newest first, or in the order of sort. from_date is inclusive and to_date exclusive; both compare with created_at. to is a phone number; its plus is optional."
  }))

const finding = <const Name extends string, const Path extends `/${string}`>(name: Name, path: Path, summary: string) =>
  HttpApiEndpoint.get(name, path, {
    params: { id: pathId(MessageId) },
    success: Data(Message),
    error: apiErrors(NotFound)
  })
    .annotate(Access.Access, reading)
    .annotateMerge(OpenApi.annotations({ summary, description: "Its status, segments and cost." }))

const senderIds = HttpApiEndpoint.get("senderIds", "/sender-ids", {
  query: pageQuery,
  success: Paged(SenderIdEntry),
  error: apiErrors(ValidationFailed)
})
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "List sender ids",
    description:
      "The operator's sender ids. A message without a sender_id uses the first one. If the list is empty, a message may use any sender_id, and the provider chooses one for a message without it."
  }))

const link = HttpApiEndpoint.get("link", "/link", { success: Data(Link) })
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "Read the link to the carrier",
    description:
      "The provider of the account's texts, and the state of its link if they go over SMPP. The whole service has one link. Texts that are accepted while it is unbound wait. With a test key the provider is the sandbox."
  }))

const statistics = HttpApiEndpoint.get("statistics", "/statistics", { success: Data(SmsStatisticsReport) })
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "Read how many texts were delivered, by country",
    description:
      "Counts the newest texts of the account by the country of their recipients: delivered, failed, and not known yet. Canceled texts do not count."
  }))

/** SMS (spec 9). */
export class SmsApi extends HttpApiGroup.make("sms")
  .add(
    send,
    preview,
    sendBulk,
    batches,
    batch,
    resend,
    cancel,
    rescheduleBatch,
    list,
    finding("find", "/messages/:id", "Read an SMS"),
    finding("status", "/status/:id", "Read an SMS (alias)"),
    cancelOne,
    reschedule,
    senderIds,
    link,
    statistics
  )
  .prefix("/v1/sms")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(
    OpenApi.annotations({ title: "SMS", description: "Texts to phones over the operator's carrier or provider." })
  )
{}
