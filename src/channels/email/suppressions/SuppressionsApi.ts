import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as Access from "../../../platform/http/Access.ts"
import { apiErrors } from "../../../platform/http/ApiError.ts"
import { NotFound, ValidationFailed } from "../../../platform/http/ApiErrors.ts"
import { Authentication } from "../../../platform/http/Authentication.ts"
import { BodyLimit, bulk, RequestRules } from "../../../platform/http/RequestRules.ts"
import { EmailAddress } from "../../../values/EmailAddress.ts"
import { Data, Done, Nothing, Paged, pageQuery } from "../../../values/Page.ts"
import { ComplaintNotRemovable, Suppression, SuppressionReason } from "./Suppression.ts"

/** Callers cannot claim a reason that only recipients or mail servers can give. */
const byHand = Schema.Literal("manual")
  .annotate({ message: "must be \"manual\" or absent: only the service sets the other reasons" })

const NewSuppression = Schema.Struct({ email: EmailAddress, reason: Schema.optionalKey(byHand) }).annotate({
  identifier: "NewSuppression"
})

/** The longest list of one request. */
export const maxAddresses = 500

const NewSuppressions = Schema.Struct({
  emails: Schema.Array(EmailAddress).check(
    Schema.isMinLength(1, { message: "must not be empty" }),
    Schema.isMaxLength(maxAddresses, { message: `must have at most ${maxAddresses} addresses` })
  )
}).annotate({ identifier: "NewSuppressions" })

const SuppressionsAdded = Schema.Struct({
  added: Schema.Int.annotate({ description: "Addresses that were not suppressed before" }),
  existing: Schema.Int.annotate({ description: "Addresses that were, and keep their reason" })
}).annotate({ identifier: "SuppressionsAdded" })

const reading = Access.channel(["email:write"], "emails:read")
const writing = Access.channel(["email:write"], "emails:write")
const params = { email: EmailAddress }

const list = HttpApiEndpoint.get("list", "/suppressions", {
  query: {
    ...pageQuery,
    reason: Schema.optionalKey(SuppressionReason),
    email: Schema.optionalKey(EmailAddress)
  },
  success: Paged(Suppression),
  error: apiErrors(ValidationFailed)
})
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "List suppressions",
    description: "Lists the addresses that this account must not email, newest first."
  }))

const add = HttpApiEndpoint.post("add", "/suppressions", {
  payload: NewSuppression,
  success: Data(Suppression).pipe(HttpApiSchema.status(201)),
  error: apiErrors(ValidationFailed)
})
  .annotate(Access.Access, writing)
  .annotateMerge(OpenApi.annotations({
    summary: "Suppress an address",
    description:
      "Also stops mail that was accepted before, unless it is being sent right now. An address that is already suppressed also returns 201 and keeps its reason."
  }))

const addMany = HttpApiEndpoint.post("addMany", "/suppress-bulk", {
  payload: NewSuppressions,
  success: Done(SuppressionsAdded),
  error: apiErrors(ValidationFailed)
})
  .annotate(BodyLimit, bulk)
  .annotate(Access.Access, writing)
  .annotateMerge(OpenApi.annotations({
    summary: "Suppress many addresses",
    description:
      `Adds up to ${maxAddresses} addresses, such as those of another provider's list. An address that appears twice counts once. If one is invalid, none is added.`
  }))

const get = HttpApiEndpoint.get("get", "/suppressions/:email", {
  params,
  success: Data(Suppression),
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "Read a suppression",
    description: "The path holds the percent-encoded address. 404 means that the account may email it."
  }))

const remove = HttpApiEndpoint.delete("remove", "/suppressions/:email", {
  params,
  success: Nothing,
  error: apiErrors(NotFound, ComplaintNotRemovable)
})
  .annotate(Access.Access, writing)
  .annotateMerge(OpenApi.annotations({
    summary: "Delete a suppression",
    description:
      "The path holds the percent-encoded address. New mail goes to the address again; messages that were suppressed stay suppressed. A complaint cannot be deleted."
  }))

/** The endpoints of an account's suppressions. */
export class SuppressionsApi extends HttpApiGroup.make("suppressions")
  .add(list, add, addMany, get, remove)
  .prefix("/v1/email")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(
    OpenApi.annotations({
      title: "Email suppressions",
      description: "Addresses that get no mail: they bounced, complained or unsubscribed."
    })
  )
{}
