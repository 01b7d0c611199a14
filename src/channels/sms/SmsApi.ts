import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Message } from "../../messages/Message.ts"
import { MessageBatch, messageBatchQuery } from "../../messages/MessageBatch.ts"
import { messageQuery } from "../../messages/messageQuery.ts"
import * as Access from "../../platform/http/Access.ts"
import { apiErrors } from "../../platform/http/ApiError.ts"
import { NotFound, PlanLimitExceeded, ValidationFailed } from "../../platform/http/ApiErrors.ts"
import { Authentication } from "../../platform/http/Authentication.ts"
import { RequestRules } from "../../platform/http/RequestRules.ts"
import { recipientsOf } from "../../templates/Recipients.ts"
import { Data, Done, Paged } from "../../values/Envelope.ts"
import { MessageBatchId, MessageId, pathId } from "../../values/Ids.ts"
import { pageQuery } from "../../values/Page.ts"
import { PhoneNumber } from "../../values/PhoneNumber.ts"
import { notBlank, textBetween } from "../../values/Text.ts"
import { UnsupportedDestination } from "./SmsErrors.ts"
import { longestText } from "./text/segments.ts"
import { SenderId } from "./text/SenderId.ts"

const Content = textBetween(1, longestText).check(notBlank)

/** One SMS. */
export const NewSms = Schema.Struct({
  to: PhoneNumber,
  content: Content,
  sender_id: Schema.optionalKey(SenderId)
})
export type NewSms = typeof NewSms.Type

/** One text for up to 500 numbers, each with values of its own. */
export const NewSmsBatch = Schema.Struct({
  recipients: recipientsOf(PhoneNumber),
  content: Content,
  sender_id: Schema.optionalKey(SenderId)
})
export type NewSmsBatch = typeof NewSmsBatch.Type

const AcceptedSms = Schema.Struct({
  message_id: MessageId,
  to: Schema.String,
  status: Schema.Literal("queued"),
  segments: Schema.Int,
  cost_usd: Schema.Finite
})
export type AcceptedSms = typeof AcceptedSms.Type

const AcceptedSmsBatch = Schema.Struct({
  batch_id: MessageBatchId,
  total_recipients: Schema.Int,
  status: Schema.Literal("queued"),
  message: Schema.String,
  segments: Schema.Int.annotate({ description: "Of all messages together" }),
  cost_usd: Schema.Finite
})
export type AcceptedSmsBatch = typeof AcceptedSmsBatch.Type

const SenderIdEntry = Schema.Struct({
  sender_id: Schema.String,
  type: Schema.Literals(["alphanumeric", "number", "short_code"]),
  is_default: Schema.Boolean
})
export type SenderIdEntry = typeof SenderIdEntry.Type

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
      "Queues one message of at most 1,600 characters and 10 segments. Its price is that of its country and of its segments at this moment, and does not change. A text that has a character outside the alphabet of GSM is sent in UCS-2, with 70 characters in a message, or 67 in each segment of several."
  }))

const sendBulk = HttpApiEndpoint.post("sendBulk", "/send-bulk", {
  payload: NewSmsBatch,
  success: Done(AcceptedSmsBatch).pipe(HttpApiSchema.status(202)),
  error: apiErrors(ValidationFailed, UnsupportedDestination, PlanLimitExceeded)
})
  .annotate(Access.Access, sending)
  .annotateMerge(OpenApi.annotations({
    summary: "Send one SMS to many recipients",
    description:
      "Queues up to 500 messages, all or none. Every {{variable}} of content must have a value for every recipient, or a default: {{name|there}}. Single messages never wait behind these."
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
      description: "Newest first, or by sort, each with its counts."
    })
  )

const batch = HttpApiEndpoint.get("batch", "/batches/:batch_id", {
  params: { batch_id: MessageBatchId },
  success: Data(MessageBatch),
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({ summary: "Read a batch of SMS", description: "Its status and its counts." }))

const list = HttpApiEndpoint.get("list", "/messages", {
  query: messageQuery(PhoneNumber),
  success: Paged(Message),
  error: apiErrors(ValidationFailed)
})
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "List SMS",
    description:
      "Newest first, or by sort. from_date and to_date ask for what was created from one moment on and before the other; to is a number, whose plus may be left out."
  }))

const finding = <const Name extends string, const Path extends `/${string}`>(name: Name, path: Path, summary: string) =>
  HttpApiEndpoint.get(name, path, {
    params: { id: pathId(MessageId) },
    success: Data(Message),
    error: apiErrors(NotFound)
  })
    .annotate(Access.Access, reading)
    .annotateMerge(OpenApi.annotations({ summary, description: "What became of it, its segments and its cost." }))

const senderIds = HttpApiEndpoint.get("senderIds", "/sender-ids", {
  query: pageQuery,
  success: Paged(SenderIdEntry),
  error: apiErrors(ValidationFailed)
})
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "List sender ids",
    description:
      "Those that the operator has named; the first one is used where a message names none. Where there is none, a message may name any, and the provider chooses for one that does not."
  }))

/** SMS (spec 9). */
export class SmsApi extends HttpApiGroup.make("sms")
  .add(
    send,
    sendBulk,
    batches,
    batch,
    list,
    finding("find", "/messages/:id", "Read an SMS"),
    finding("status", "/status/:id", "Read an SMS, by the path's other name"),
    senderIds
  )
  .prefix("/v1/sms")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "SMS" }))
{}
