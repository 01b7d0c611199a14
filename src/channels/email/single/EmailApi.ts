import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { EmailQuotaExceeded } from "../../../accounts/AccountErrors.ts"
import { SenderNotVerified } from "../../../email-domains/EmailDomain.ts"
import { MessageOver, Reschedule } from "../../../messages/MessageOver.ts"
import { acceptedFields } from "../../../messages/sendFields.ts"
import * as Access from "../../../platform/http/Access.ts"
import { apiErrors } from "../../../platform/http/ApiError.ts"
import { NotFound, ValidationFailed } from "../../../platform/http/ApiErrors.ts"
import { Authentication } from "../../../platform/http/Authentication.ts"
import { HasWarnings } from "../../../platform/http/names/UnknownNames.ts"
import { BodyLimit, files, RequestRules } from "../../../platform/http/RequestRules.ts"
import { Variables } from "../../../templates/Recipients.ts"
import { EmailAddress } from "../../../values/EmailAddress.ts"
import { EmailBatchId, EmailMessageId, pathId } from "../../../values/Ids.ts"
import { tagQuery } from "../../../values/Labels.ts"
import { Data, Done, Paged, sortedPageQuery } from "../../../values/Page.ts"
import { TimestampInput } from "../../../values/Timestamp.ts"
import { RecipientStatus } from "../recipients/MessageState.ts"
import { AddressInput, mailboxFor } from "../request/Mailbox.ts"
import { AttachmentInputs, htmlField, mailFields, Warnings } from "../request/MailFields.ts"
import { Email, EmailContent, EmailMessageDetails, SourceGone } from "./Email.ts"

const maxAddresses = 50

/** One address, or an array. A list in one string would bypass the limit. */
const addresses = (least: number) => {
  const message = `must name at most ${maxAddresses} addresses; use /v1/email/send-bulk for more`
  const many = Schema.Array(AddressInput).check(
    Schema.isMinLength(least, { message: "must name at least one recipient" }),
    Schema.isMaxLength(maxAddresses, { message })
  )
  return Schema.Union([AddressInput, many])
}

/** A single email: one text for one or a few recipients, who may see each other. */
export const NewEmail = Schema.Struct({
  to: addresses(1).annotate({
    description: "An address, or an array of up to 50. The name of Name <address> is not sent"
  }),
  cc: Schema.optionalKey(addresses(0).annotate({ description: "As to. All recipients see these addresses" })),
  bcc: Schema.optionalKey(
    addresses(0).annotate({ description: "As to. Other recipients do not see these addresses: no header names them" })
  ),
  reply_to: Schema.optionalKey(
    mailboxFor("The address, or Name <address>, that replies go to. Its domain needs no verification")
  ),
  html: htmlField("Required without text and template_id"),
  ...mailFields,
  variables: Schema.optionalKey(Variables),
  attachments: Schema.optionalKey(AttachmentInputs)
}).annotate({ identifier: "NewEmail" })
export type NewEmail = typeof NewEmail.Type

export const AcceptedEmail = Schema.Struct({
  id: EmailMessageId,
  message_id: EmailMessageId.annotate({ description: "The same as id, by the name that the other channels use" }),
  to: Email.fields.to,
  status: Schema.Literals(["queued", "scheduled", "suppressed"]).annotate({
    description: "suppressed: the account must not email any of the recipients"
  }),
  ...acceptedFields,
  warnings: Warnings
}).annotate({ identifier: "AcceptedEmail" })
export type AcceptedEmail = typeof AcceptedEmail.Type

const reading = Access.channel(["email:write"], "emails:read")

const send = HttpApiEndpoint.post("send", "/send", {
  payload: NewEmail,
  success: Done(AcceptedEmail).pipe(HttpApiSchema.status(202)),
  error: apiErrors(EmailQuotaExceeded, ValidationFailed, NotFound, SenderNotVerified)
})
  .annotate(Access.Access, Access.channel(["email:write"], "emails:write", { paid: "sending" }))
  .annotate(BodyLimit, files)
  .annotate(HasWarnings, true)
  .annotateMerge(OpenApi.annotations({
    summary: "Send an email",
    description:
      "Queues one email to up to 50 addresses in each of to, cc and bcc. It needs html, text, or both; a missing text is made from the HTML. {{variables}} are filled in from variables, and each needs a value or a default. With template_id the email uses the stored template's current texts. Several addresses share one email and one record; each event names its recipient."
  }))

const filters = {
  ...sortedPageQuery,
  ...tagQuery,
  status: Schema.optionalKey(RecipientStatus),
  to: Schema.optionalKey(EmailAddress),
  from_date: Schema.optionalKey(TimestampInput),
  to_date: Schema.optionalKey(TimestampInput),
  batch_id: Schema.optionalKey(EmailBatchId)
}

const listing = <const Name extends string, const Path extends `/${string}`>(name: Name, path: Path, summary: string) =>
  HttpApiEndpoint.get(name, path, {
    query: filters,
    success: Paged(Email),
    error: apiErrors(ValidationFailed)
  })
    .annotate(Access.Access, reading)
    .annotateMerge(OpenApi.annotations({
      summary,
      description:
        "Lists single emails and the recipients of batches, newest first or by sort. to matches any recipient's address, including cc and bcc. from_date (inclusive) and to_date (exclusive) limit the time of creation."
    }))

const finding = <const Name extends string, const Path extends `/${string}`>(name: Name, path: Path, summary: string) =>
  HttpApiEndpoint.get(name, path, {
    params: { id: pathId(EmailMessageId) },
    success: Data(EmailMessageDetails),
    error: apiErrors(NotFound)
  })
    .annotate(Access.Access, reading)
    .annotateMerge(
      OpenApi.annotations({ summary, description: "Returns the status of the email and of each recipient." })
    )

const content = HttpApiEndpoint.get("content", "/messages/:id/content", {
  params: { id: pathId(EmailMessageId) },
  success: Data(EmailContent),
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "Read the content of an email",
    description:
      "Returns the texts with their values filled in, before tracking, and the names of the attachments. They are kept for a day after the email ended. A one-time code shows stars."
  }))

const source = HttpApiEndpoint.get("source", "/messages/:id/source", {
  params: { id: pathId(EmailMessageId) },
  success: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "message/rfc822" })),
  error: apiErrors(NotFound, SourceGone)
})
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "Read the source of an email",
    description:
      "Returns the mail as this service hands it to the relay (RFC 5322), with the recipient's own links and pixel, which count if they are opened after the mail was sent. An email to several addresses has one copy for each: this is that of the first one. Missing are the DKIM-Signature, which is made when the mail is sent, and the fields that relays add. No header names bcc. A one-time code shows stars. 410 once the texts are no longer kept."
  }))

const writing = Access.channel(["email:write"], "emails:write")

const cancel = HttpApiEndpoint.post("cancel", "/messages/:id/cancel", {
  params: { id: pathId(EmailMessageId) },
  success: Done(EmailMessageDetails),
  error: apiErrors(NotFound, MessageOver)
})
  .annotate(Access.Access, writing)
  .annotateMerge(OpenApi.annotations({
    summary: "Cancel an email",
    description:
      "Cancels the recipients whose mail is not being sent right now, and gives back their quota. If there are none, nothing changes and the answer is 409 with the status."
  }))

const reschedule = HttpApiEndpoint.patch("reschedule", "/messages/:id", {
  params: { id: pathId(EmailMessageId) },
  payload: Reschedule,
  success: Data(EmailMessageDetails),
  error: apiErrors(NotFound, MessageOver, ValidationFailed)
})
  .annotate(Access.Access, writing)
  .annotateMerge(OpenApi.annotations({
    summary: "Reschedule an email",
    description:
      "Gives a scheduled email another time. An email of a batch has the time of its batch: 422; reschedule the batch."
  }))

/** The endpoints of single emails, and of the records of all emails (spec 9). */
export class EmailApi extends HttpApiGroup.make("emailMessages")
  .add(
    send,
    listing("list", "/messages", "List emails"),
    finding("find", "/messages/:id", "Read an email"),
    listing("history", "/history", "List emails (alias)"),
    finding("status", "/status/:id", "Read an email (alias)"),
    content,
    source,
    cancel,
    reschedule
  )
  .prefix("/v1/email")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "Email", description: "Single messages, and the history of each." }))
{}
