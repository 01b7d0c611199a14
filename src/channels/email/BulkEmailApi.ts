import { Schema, SchemaTransformation } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { SenderNotVerified } from "../../email-domains/EmailDomainErrors.ts"
import * as Access from "../../platform/http/Access.ts"
import { apiErrors } from "../../platform/http/ApiError.ts"
import { NotFound, ValidationFailed } from "../../platform/http/ApiErrors.ts"
import { Authentication } from "../../platform/http/Authentication.ts"
import { BodyLimit, large } from "../../platform/http/BodyLimit.ts"
import { RequestRules } from "../../platform/http/RequestRules.ts"
import { EmailAddress } from "../../values/EmailAddress.ts"
import { Data, Done, Paged } from "../../values/Envelope.ts"
import { EmailBatchId } from "../../values/Ids.ts"
import { pageQuery } from "../../values/Page.ts"
import { lineBetween, Text, textBetween } from "../../values/Text.ts"
import { Batch, BatchRecipient, RecipientStatus } from "./Batch.ts"
import { Mailbox } from "./Mailbox.ts"

const Value = Schema.Union([Text, Schema.Finite, Schema.Boolean, Schema.Null])

/** Substitution values of one recipient; `{{user.name}}` reads one level down. */
const Variables = Schema.Record(Schema.String, Schema.Union([Value, Schema.Record(Schema.String, Value)]))

const Recipient = Schema.Struct({ to: EmailAddress, variables: Schema.optionalKey(Variables) })
export type Recipient = typeof Recipient.Type

/** Existing clients also send plain strings. */
const RecipientInput = Schema.Union([Schema.String, Schema.toEncoded(Recipient)]).pipe(
  Schema.decodeTo(
    Recipient,
    SchemaTransformation.transform({
      decode: (input) => typeof input === "string" ? { to: input } : input,
      encode: (recipient: typeof Recipient.Encoded): string | typeof Recipient.Encoded => recipient
    })
  )
)

const most = 500

/** A bulk mail (spec 4.3): one text, up to 500 recipients with values of their own. */
export const NewBatch = Schema.Struct({
  recipients: Schema.Array(RecipientInput).check(
    Schema.isMinLength(1, { message: "must name at least one recipient" }),
    Schema.isMaxLength(most, { message: `must name at most ${most} recipients; send the rest in another request` })
  ),
  from: Schema.optionalKey(Mailbox),
  from_name: Schema.optionalKey(lineBetween(1, 200)),
  subject: lineBetween(1, 500),
  html: textBetween(1, 5_000_000),
  text: Schema.optionalKey(textBetween(1, 5_000_000))
})
export type NewBatch = typeof NewBatch.Type

export const AcceptedBatch = Schema.Struct({
  batch_id: EmailBatchId,
  total_recipients: Schema.Int,
  status: Schema.Literal("queued"),
  message: Schema.String
})
export type AcceptedBatch = typeof AcceptedBatch.Type

const email = (options?: { readonly paid?: "sending" }) => Access.channel(["email:write"], "emails:write", options)
const reading = Access.channel(["email:write"], "emails:read")
const params = { batch_id: EmailBatchId }

const sendBulk = HttpApiEndpoint.post("sendBulk", "/send-bulk", {
  payload: NewBatch,
  success: Done(AcceptedBatch).pipe(HttpApiSchema.status(202)),
  error: apiErrors(ValidationFailed, SenderNotVerified)
})
  .annotate(Access.Access, email({ paid: "sending" }))
  .annotate(BodyLimit, large)
  .annotateMerge(OpenApi.annotations({
    summary: "Send one email to many recipients",
    description:
      "Queues up to 500 personalised messages. Every {{variable}} of subject, html and text must have a value for every recipient, or a default: {{name|there}}. Each message carries List-Unsubscribe headers."
  }))

const batch = HttpApiEndpoint.get("batch", "/batches/:batch_id", {
  params,
  success: Data(Batch),
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({ summary: "Read a batch", description: "Its status and its counts." }))

const recipients = HttpApiEndpoint.get("recipients", "/batches/:batch_id/recipients", {
  params,
  query: { ...pageQuery, status: Schema.optionalKey(RecipientStatus) },
  success: Paged(BatchRecipient),
  error: apiErrors(NotFound, ValidationFailed)
})
  .annotate(Access.Access, reading)
  .annotateMerge(
    OpenApi.annotations({ summary: "List the recipients of a batch", description: "In the order that was sent." })
  )

const cancel = HttpApiEndpoint.post("cancel", "/batches/:batch_id/cancel", {
  params,
  success: Done(Batch),
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, email())
  .annotateMerge(OpenApi.annotations({
    summary: "Cancel a batch",
    description: "Whoever is not being written to right now is left out. Canceling again changes nothing."
  }))

/** Bulk email (spec 4.3). */
export class BulkEmailApi extends HttpApiGroup.make("bulkEmail")
  .add(sendBulk, batch, recipients, cancel)
  .prefix("/v1/email")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "Bulk email" }))
{}
