import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { EmailQuotaExceeded } from "../../../accounts/AccountErrors.ts"
import { SenderNotVerified } from "../../../email-domains/EmailDomainErrors.ts"
import * as Access from "../../../platform/http/Access.ts"
import { apiErrors } from "../../../platform/http/ApiError.ts"
import { NotFound, ValidationFailed } from "../../../platform/http/ApiErrors.ts"
import { Authentication } from "../../../platform/http/Authentication.ts"
import { BodyLimit, large, RequestRules } from "../../../platform/http/RequestRules.ts"
import { Variables } from "../../../templates/Recipients.ts"
import { EmailAddress } from "../../../values/EmailAddress.ts"
import { Data, Done, Paged } from "../../../values/Envelope.ts"
import { EmailBatchId, EmailMessageId, pathId } from "../../../values/Ids.ts"
import { sortedPageQuery } from "../../../values/Page.ts"
import { TimestampInput } from "../../../values/Timestamp.ts"
import { RecipientStatus } from "../bulk/Batch.ts"
import { AttachmentInputs } from "../request/AttachmentInput.ts"
import { mailboxFor } from "../request/Mailbox.ts"
import { htmlField, mailFields, Warnings } from "../request/MailFields.ts"
import { Email, EmailMessageDetails } from "./Email.ts"

const most = 50

/** One bare address, or several; a list in one string would be a way around the limit. */
const addresses = (least: number) => {
  const message = `must name at most ${most} addresses; use /v1/email/send-bulk for more`
  const many = Schema.Array(EmailAddress).check(
    Schema.isMinLength(least, { message: "must name at least one recipient" }),
    Schema.isMaxLength(most, { message })
  )
  return Schema.Union([EmailAddress, many])
}

/** An email of its own: one text, for one or a few who may see each other. */
export const NewEmail = Schema.Struct({
  to: addresses(1).annotate({ description: "A bare address, or an array of up to 50" }),
  cc: Schema.optionalKey(addresses(0).annotate({ description: "As to; everybody sees them" })),
  bcc: Schema.optionalKey(addresses(0).annotate({ description: "As to; nobody sees them, as no header names them" })),
  reply_to: Schema.optionalKey(
    mailboxFor("An address, or Name <address>, that answers go to; of any domain")
  ),
  html: htmlField("Required without text and template_id"),
  ...mailFields,
  variables: Schema.optionalKey(Variables),
  attachments: Schema.optionalKey(AttachmentInputs)
})
export type NewEmail = typeof NewEmail.Type

export const AcceptedEmail = Schema.Struct({
  id: EmailMessageId,
  to: Email.fields.to,
  status: Schema.Literals(["queued", "suppressed"]).annotate({
    description: "suppressed: no recipient is left, as the account must not write to any of them"
  }),
  warnings: Warnings
})
export type AcceptedEmail = typeof AcceptedEmail.Type

const reading = Access.channel(["email:write"], "emails:read")

const send = HttpApiEndpoint.post("send", "/send", {
  payload: NewEmail,
  success: Done(AcceptedEmail).pipe(HttpApiSchema.status(202)),
  error: apiErrors(EmailQuotaExceeded, ValidationFailed, NotFound, SenderNotVerified)
})
  .annotate(Access.Access, Access.channel(["email:write"], "emails:write", { paid: "sending" }))
  .annotate(BodyLimit, large)
  .annotateMerge(OpenApi.annotations({
    summary: "Send an email",
    description:
      "Queues one email to up to 50 addresses in each of to, cc and bcc. It has html, text, or both; without a text one is made of the HTML. {{variables}} are filled in from variables, and each must have a value or a default. With template_id the texts are a stored template's, as it is now. Several addresses make one email and one record; events name their recipient."
  }))

const filters = {
  ...sortedPageQuery,
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
        "Emails that were sent by themselves, and the recipients of batches, newest first, or by sort. to is any recipient's address, also in cc or bcc; from_date and to_date ask for what was created from one moment on and before the other."
    }))

const finding = <const Name extends string, const Path extends `/${string}`>(name: Name, path: Path, summary: string) =>
  HttpApiEndpoint.get(name, path, {
    params: { id: pathId(EmailMessageId) },
    success: Data(EmailMessageDetails),
    error: apiErrors(NotFound)
  })
    .annotate(Access.Access, reading)
    .annotateMerge(
      OpenApi.annotations({ summary, description: "What became of it, as a whole and for each recipient." })
    )

/** Emails of their own, and the record of every email (spec 9). */
export class EmailApi extends HttpApiGroup.make("emailMessages")
  .add(
    send,
    listing("list", "/messages", "List emails"),
    finding("find", "/messages/:id", "Read an email"),
    listing("history", "/history", "List emails, by the path's other name"),
    finding("status", "/status/:id", "Read an email, by the path's other name")
  )
  .prefix("/v1/email")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "Email" }))
{}
