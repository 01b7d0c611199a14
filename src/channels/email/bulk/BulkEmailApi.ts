import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { EmailQuotaExceeded } from "../../../accounts/AccountErrors.ts"
import { SenderNotVerified } from "../../../email-domains/EmailDomain.ts"
import { BatchStatus } from "../../../messages/Message.ts"
import { MessageOver, Reschedule } from "../../../messages/MessageOver.ts"
import { acceptedFields } from "../../../messages/sendFields.ts"
import * as Access from "../../../platform/http/Access.ts"
import { apiErrors } from "../../../platform/http/ApiError.ts"
import { NotFound, ValidationFailed } from "../../../platform/http/ApiErrors.ts"
import { Authentication } from "../../../platform/http/Authentication.ts"
import { HasWarnings } from "../../../platform/http/names/UnknownNames.ts"
import { BodyLimit, bulkMail, RequestRules, WaitsOutside } from "../../../platform/http/RequestRules.ts"
import { bulkFields } from "../../../templates/Recipients.ts"
import { EmailBatchId } from "../../../values/Ids.ts"
import { tagQuery } from "../../../values/Labels.ts"
import { Data, Done, Paged, pageQuery, sortedPageQuery } from "../../../values/Page.ts"
import { RecipientStatus } from "../recipients/MessageState.ts"
import { AddressInput } from "../request/Mailbox.ts"
import { htmlField, mailFields, Warnings } from "../request/MailFields.ts"
import { Batch, BatchRecipient } from "./Batch.ts"

/** A bulk email (spec 4.3): one text or stored template for up to 500 recipients, each with their values. */
export const NewBatch = Schema.Struct({
  ...bulkFields(AddressInput, "an address"),
  html: htmlField("Required without text and template_id"),
  ...mailFields
}).annotate({ identifier: "NewEmailBatch" })
export type NewBatch = typeof NewBatch.Type

export const AcceptedBatch = Schema.Struct({
  batch_id: EmailBatchId,
  total_recipients: Schema.Int,
  status: Schema.Literals(["queued", "scheduled"]),
  ...acceptedFields,
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
  .annotate(HasWarnings, true)
  .annotateMerge(OpenApi.annotations({
    summary: "Send one email to many recipients",
    description:
      "Queues up to 500 personalised messages. Every {{variable}} of subject, html and text needs a value for every recipient, or a default: {{name|there}}. With template_id the batch uses the stored template's current texts; later changes do not affect it. Each message carries List-Unsubscribe headers."
  }))

const batches = HttpApiEndpoint.get("batches", "/batches", {
  query: { ...sortedPageQuery, ...tagQuery, status: Schema.optionalKey(BatchStatus) },
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

const resend = HttpApiEndpoint.post("resend", "/batches/:batch_id/resend", {
  params,
  success: Done(Batch).pipe(HttpApiSchema.status(202)),
  error: apiErrors(EmailQuotaExceeded, NotFound, ValidationFailed, SenderNotVerified)
})
  .annotate(Access.Access, email({ paid: "sending" }))
  .annotateMerge(OpenApi.annotations({
    summary: "Send a batch of email again to failed recipients",
    description:
      "Makes a new batch with the same content for the recipients that an ended batch did not reach, and answers with it. A batch is sent again once: a repeated request answers with the same new batch. The texts of a batch are kept for a day after its end."
  }))

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

const reschedule = HttpApiEndpoint.patch("reschedule", "/batches/:batch_id", {
  params,
  payload: Reschedule,
  success: Data(Batch),
  error: apiErrors(NotFound, MessageOver, ValidationFailed)
})
  .annotate(Access.Access, email())
  .annotateMerge(
    OpenApi.annotations({ summary: "Reschedule a batch", description: "Gives a scheduled batch another time." })
  )

/** The endpoints of bulk email (spec 4.3). */
export class BulkEmailApi extends HttpApiGroup.make("bulkEmail")
  .add(sendBulk, batches, batch, recipients, resend, cancel, reschedule)
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
