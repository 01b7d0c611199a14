import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { EmailQuotaExceeded } from "../../../accounts/AccountErrors.ts"
import { SenderNotVerified } from "../../../email-domains/EmailDomain.ts"
import { BatchStatus } from "../../../messages/Message.ts"
import * as Access from "../../../platform/http/Access.ts"
import { apiErrors } from "../../../platform/http/ApiError.ts"
import { NotFound, ValidationFailed } from "../../../platform/http/ApiErrors.ts"
import { Authentication } from "../../../platform/http/Authentication.ts"
import { BodyLimit, bulkMail, RequestRules, WaitsOutside } from "../../../platform/http/RequestRules.ts"
import { recipientsOf } from "../../../templates/Recipients.ts"
import { EmailAddress } from "../../../values/EmailAddress.ts"
import { EmailBatchId } from "../../../values/Ids.ts"
import { Data, Done, Paged, pageQuery, sortedPageQuery } from "../../../values/Page.ts"
import { RecipientStatus } from "../recipients/MessageState.ts"
import { htmlField, mailFields, Warnings } from "../request/MailFields.ts"
import { Batch, BatchRecipient } from "./Batch.ts"

/** A bulk email (spec 4.3): one text or stored template for up to 500 recipients, each with their values. */
export const NewBatch = Schema.Struct({
  recipients: recipientsOf(EmailAddress).annotate({
    description: "Each recipient has an address and values. A plain string is an address without values"
  }),
  html: htmlField("Required without template_id"),
  ...mailFields
}).annotate({ identifier: "NewEmailBatch" })
export type NewBatch = typeof NewBatch.Type

export const AcceptedBatch = Schema.Struct({
  batch_id: EmailBatchId,
  total_recipients: Schema.Int,
  status: Schema.Literal("queued"),
  message: Schema.String,
  warnings: Warnings
}).annotate({ identifier: "AcceptedEmailBatch" })
export type AcceptedBatch = typeof AcceptedBatch.Type

const email = (options?: { readonly paid?: "sending" }) => Access.channel(["email:write"], "emails:write", options)
const reading = Access.channel(["email:write"], "emails:read")
const params = { batch_id: EmailBatchId }

const sendBulk = HttpApiEndpoint.post("sendBulk", "/send-bulk", {
  payload: NewBatch,
  success: Done(AcceptedBatch).pipe(HttpApiSchema.status(202)),
  error: apiErrors(EmailQuotaExceeded, ValidationFailed, NotFound, SenderNotVerified)
})
  .annotate(Access.Access, email({ paid: "sending" }))
  .annotate(BodyLimit, bulkMail)
  .annotateMerge(OpenApi.annotations({
    summary: "Send one email to many recipients",
    description:
      "Queues up to 500 personalised messages. Every {{variable}} of subject, html and text needs a value for every recipient, or a default: {{name|there}}. With template_id the batch uses the stored template's current texts; later changes do not affect it. Each message carries List-Unsubscribe headers."
  }))

const batches = HttpApiEndpoint.get("batches", "/batches", {
  query: { ...sortedPageQuery, status: Schema.optionalKey(BatchStatus) },
  success: Paged(Batch),
  error: apiErrors(ValidationFailed)
})
  .annotate(Access.Access, reading)
  .annotateMerge(
    OpenApi.annotations({
      summary: "List batches",
      description: "Lists batches with their counts, newest first or by sort."
    })
  )

const batch = HttpApiEndpoint.get("batch", "/batches/:batch_id", {
  params,
  success: Data(Batch),
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, reading)
  .annotateMerge(
    OpenApi.annotations({ summary: "Read a batch", description: "Returns the batch's status and counts." })
  )

const recipients = HttpApiEndpoint.get("recipients", "/batches/:batch_id/recipients", {
  params,
  query: { ...pageQuery, status: Schema.optionalKey(RecipientStatus) },
  success: Paged(BatchRecipient),
  error: apiErrors(NotFound, ValidationFailed)
})
  .annotate(Access.Access, reading)
  .annotateMerge(
    OpenApi.annotations({
      summary: "List the recipients of a batch",
      description: "Lists the recipients in the order of the request."
    })
  )

const cancel = HttpApiEndpoint.post("cancel", "/batches/:batch_id/cancel", {
  params,
  success: Done(Batch),
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, email())
  .annotate(WaitsOutside, true)
  .annotateMerge(OpenApi.annotations({
    summary: "Cancel a batch",
    description:
      "Cancels all recipients whose message is not being sent right now. After the answer no further message begins; those being sent count as queued until they end, mostly within a second. Canceling again changes nothing."
  }))

/** The endpoints of bulk email (spec 4.3). */
export class BulkEmailApi extends HttpApiGroup.make("bulkEmail")
  .add(sendBulk, batches, batch, recipients, cancel)
  .prefix("/v1/email")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(
    OpenApi.annotations({
      title: "Bulk email",
      description: "One text for up to 500 recipients, each with their values."
    })
  )
{}
