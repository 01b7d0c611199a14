import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Message, MessageBatch, messageBatchQuery } from "../../../messages/Message.ts"
import { MessageOver, Reschedule } from "../../../messages/MessageOver.ts"
import { messageQuery } from "../../../messages/messageQuery.ts"
import { acceptedFields, sendFields } from "../../../messages/sendFields.ts"
import * as Access from "../../../platform/http/Access.ts"
import { apiErrors } from "../../../platform/http/ApiError.ts"
import { NotFound, ValidationFailed } from "../../../platform/http/ApiErrors.ts"
import { Authentication } from "../../../platform/http/Authentication.ts"
import { BodyLimit, bulk, files, RequestRules } from "../../../platform/http/RequestRules.ts"
import { bulkFields } from "../../../templates/Recipients.ts"
import { MessageBatchId, MessageId, pathId, WhatsAppSessionId } from "../../../values/Ids.ts"
import { Data, Done, Paged } from "../../../values/Page.ts"
import { Text } from "../../../values/Text.ts"
import { byType, ChatName, MessageType } from "../content/MessageContent.ts"
import { LimitedFigures } from "../model/Session.ts"
import { SessionNotConnected } from "../model/SessionErrors.ts"

/** Why PostgreSQL cannot store a value. Fields that no type has are stored with the request of a failover. */
const unstorable = (value: Schema.Json): string | undefined => {
  if (typeof value === "string") {
    if (value.includes("\0")) return "must not contain a NUL character"
    return value.isWellFormed() ? undefined : "must be well-formed Unicode"
  }
  if (value === null || typeof value !== "object") return undefined
  for (const part of Object.values(value)) {
    const problem = unstorable(part)
    if (problem !== undefined) return problem
  }
  return undefined
}

const Content = Schema.Union([Text, Schema.Record(Schema.String, Schema.Json).check(Schema.makeFilter(unstorable))])
  .annotate({
    description:
      "Depends on type: text {body}; image, video, document, audio {url or base64, caption, filename, mime_type}; location {latitude, longitude, name}; contact {name, phones}; poll {question, options}; reaction {message_id, emoji}. A string is short for the body of a text, the url of a file, or latitude,longitude of a location; for other types it is the object as JSON. A contact may have phone instead of phones."
  })

const common = {
  session_id: WhatsAppSessionId,
  type: Schema.optionalKey(MessageType.annotate({ description: "Default: text" })),
  content: Content,
  ...sendFields
}

/** One message (api: POST /v1/whatsapp/send). */
export const NewMessage = Schema.Struct({
  ...common,
  to: Schema.optionalKey(ChatName),
  group_id: Schema.optionalKey(
    Schema.Int.annotate({ description: "A group by its id in the API, instead of to" })
  )
}).check(byType).annotate({ identifier: "NewWhatsAppMessage" })
export type NewMessage = typeof NewMessage.Type

const maxDelay = 60_000

/** One message for up to 500 recipients, each with its own values (api: POST /v1/whatsapp/send-bulk). */
export const NewMessageBatch = Schema.Struct({
  ...common,
  ...bulkFields(ChatName, "a number or the id of a group"),
  delay_ms: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxDelay })).annotate({
      description: "The shortest pause before each message. The session's rate limits apply as well."
    })
  )
}).check(byType).annotate({ identifier: "NewWhatsAppBatch" })
export type NewMessageBatch = typeof NewMessageBatch.Type

const AcceptedMessage = Schema.Struct({
  id: MessageId,
  message_id: MessageId.annotate({ description: "The same as id" }),
  session_id: WhatsAppSessionId,
  to: Schema.String,
  type: MessageType,
  status: Schema.Literals(["queued", "scheduled"]),
  ...acceptedFields
}).annotate({ identifier: "AcceptedWhatsAppMessage" })
export type AcceptedMessage = typeof AcceptedMessage.Type

const AcceptedMessageBatch = Schema.Struct({
  batch_id: MessageBatchId,
  total_recipients: Schema.Int,
  status: Schema.Literals(["queued", "scheduled"]),
  ...acceptedFields,
  message: Schema.String
}).annotate({ identifier: "AcceptedWhatsAppBatch" })
export type AcceptedMessageBatch = typeof AcceptedMessageBatch.Type

const sending = Access.channel(["whatsapp:write"], "messages:write", { paid: "sending" })
const reading = Access.channel(["whatsapp:read"], "messages:read")

const send = HttpApiEndpoint.post("send", "/send", {
  payload: NewMessage,
  success: Done(AcceptedMessage).pipe(HttpApiSchema.status(202)),
  error: apiErrors(ValidationFailed, NotFound, SessionNotConnected)
})
  .annotate(Access.Access, sending)
  .annotate(BodyLimit, files)
  .annotateMerge(OpenApi.annotations({
    summary: "Send a WhatsApp message",
    description:
      "Queues one message. The connected session sends it within its rate limits. The status becomes sent when WhatsApp's server acknowledges the message. If the recipient does not use WhatsApp, the message fails and message.failed is published."
  }))

const sendBulk = HttpApiEndpoint.post("sendBulk", "/send-bulk", {
  payload: NewMessageBatch,
  success: Done(AcceptedMessageBatch).pipe(HttpApiSchema.status(202)),
  error: apiErrors(ValidationFailed, NotFound, SessionNotConnected)
})
  .annotate(Access.Access, sending)
  .annotate(BodyLimit, bulk)
  .annotateMerge(OpenApi.annotations({
    summary: "Send one WhatsApp message to many recipients",
    description:
      "Queues up to 500 messages, all or none. Each {{variable}} of a text or a caption needs a value from every recipient or a default: {{name|there}}. Single messages of the session go first."
  }))

const batches = HttpApiEndpoint.get("batches", "/batches", {
  query: messageBatchQuery,
  success: Paged(MessageBatch),
  error: apiErrors(ValidationFailed)
})
  .annotate(Access.Access, reading)
  .annotateMerge(
    OpenApi.annotations({
      summary: "List batches of WhatsApp messages",
      description: "Newest first, or in the order of sort. Each has its counts."
    })
  )

const batch = HttpApiEndpoint.get("batch", "/batches/:batch_id", {
  params: { batch_id: MessageBatchId },
  success: Data(MessageBatch),
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, reading)
  .annotateMerge(
    OpenApi.annotations({ summary: "Read a batch of WhatsApp messages", description: "Its status and its counts." })
  )

const resend = HttpApiEndpoint.post("resend", "/batches/:batch_id/resend", {
  params: { batch_id: MessageBatchId },
  success: Done(MessageBatch).pipe(HttpApiSchema.status(202)),
  error: apiErrors(NotFound, ValidationFailed, SessionNotConnected)
})
  .annotate(Access.Access, sending)
  .annotateMerge(OpenApi.annotations({
    summary: "Send a batch of WhatsApp messages again to failed recipients",
    description:
      "Makes a new batch with the same content for the recipients that an ended batch did not reach, and answers with it. A batch is sent again once: a repeated request answers with the same new batch. A text that is no longer kept cannot be sent again."
  }))

const cancel = HttpApiEndpoint.post("cancel", "/batches/:batch_id/cancel", {
  params: { batch_id: MessageBatchId },
  success: Done(MessageBatch),
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, Access.channel(["whatsapp:write"], "messages:write"))
  .annotateMerge(OpenApi.annotations({
    summary: "Cancel a batch of WhatsApp messages",
    description:
      "Cancels all messages that are not being written to WhatsApp. Those being written count as queued until WhatsApp acknowledges them. Canceling again changes nothing."
  }))

const writing = Access.channel(["whatsapp:write"], "messages:write")

const rescheduleBatch = HttpApiEndpoint.patch("rescheduleBatch", "/batches/:batch_id", {
  params: { batch_id: MessageBatchId },
  payload: Reschedule,
  success: Data(MessageBatch),
  error: apiErrors(NotFound, MessageOver, ValidationFailed)
})
  .annotate(Access.Access, writing)
  .annotateMerge(
    OpenApi.annotations({
      summary: "Reschedule a batch of WhatsApp messages",
      description: "Gives a scheduled batch another time."
    })
  )

const cancelOne = HttpApiEndpoint.post("cancelOne", "/messages/:id/cancel", {
  params: { id: pathId(MessageId) },
  success: Done(Message),
  error: apiErrors(NotFound, MessageOver)
})
  .annotate(Access.Access, writing)
  .annotateMerge(OpenApi.annotations({
    summary: "Cancel a WhatsApp message",
    description:
      "Cancels a message that was not written to WhatsApp. Otherwise nothing changes and the answer is 409 with the status."
  }))

const reschedule = HttpApiEndpoint.patch("reschedule", "/messages/:id", {
  params: { id: pathId(MessageId) },
  payload: Reschedule,
  success: Data(Message),
  error: apiErrors(NotFound, MessageOver, ValidationFailed)
})
  .annotate(Access.Access, writing)
  .annotateMerge(
    OpenApi.annotations({
      summary: "Reschedule a WhatsApp message",
      description: "Gives a scheduled message another time."
    })
  )

const list = HttpApiEndpoint.get("list", "/messages", {
  query: {
    ...messageQuery(ChatName),
    session_id: Schema.optionalKey(pathId(WhatsAppSessionId)),
    chat: Schema.optionalKey(ChatName).annotate({
      description: "A conversation: the messages to this number and from it, or those in this group"
    })
  },
  success: Paged(Message),
  error: apiErrors(ValidationFailed)
})
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "List WhatsApp messages",
    description:
      "Newest first, or in the order of sort. from_date is inclusive and to_date exclusive; both compare with created_at. to is a phone number or the WhatsApp id of a group, as in a send request."
  }))

const find = HttpApiEndpoint.get("find", "/messages/:id", {
  params: { id: pathId(MessageId) },
  success: Data(Message),
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, reading)
  .annotateMerge(
    OpenApi.annotations({ summary: "Read a WhatsApp message", description: "Its status, content and times." })
  )

const figures = HttpApiEndpoint.get("figures", "/sessions/:id/figures", {
  params: { id: pathId(WhatsAppSessionId) },
  success: Data(LimitedFigures),
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, Access.channel(["whatsapp:read"], "sessions:read"))
  .annotateMerge(OpenApi.annotations({
    summary: "Read the figures of a WhatsApp session",
    description:
      "How many messages the session has sent in the last minute and day, what the limits are, and how many messages wait for their turn. Also since when it has its status, and why."
  }))

/** Endpoints of WhatsApp messages (spec 3.6, 4.2, 6.5). */
export class MessagesApi extends HttpApiGroup.make("whatsappMessages")
  .add(send, sendBulk, batches, batch, resend, cancel, rescheduleBatch, list, find, cancelOne, reschedule, figures)
  .prefix("/v1/whatsapp")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(
    OpenApi.annotations({
      title: "WhatsApp messages",
      description: "Messages to people and groups, and those that arrived."
    })
  )
{}
