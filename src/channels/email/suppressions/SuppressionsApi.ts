import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as Access from "../../../platform/http/Access.ts"
import { apiErrors } from "../../../platform/http/ApiError.ts"
import { NotFound, ValidationFailed } from "../../../platform/http/ApiErrors.ts"
import { Authentication } from "../../../platform/http/Authentication.ts"
import { RequestRules } from "../../../platform/http/RequestRules.ts"
import { EmailAddress } from "../../../values/EmailAddress.ts"
import { Data, Nothing, Paged, pageQuery } from "../../../values/Page.ts"
import { ComplaintNotRemovable, Suppression, SuppressionReason } from "./Suppression.ts"

/** Callers cannot claim a reason that only recipients or mail servers can give. */
const byHand = Schema.Literal("manual")
  .annotate({ message: "must be \"manual\" or absent: only the service sets the other reasons" })

const NewSuppression = Schema.Struct({ email: EmailAddress, reason: Schema.optionalKey(byHand) }).annotate({
  identifier: "NewSuppression"
})

const reading = Access.channel(["email:write"], "emails:read")
const writing = Access.channel(["email:write"], "emails:write")
const params = { email: EmailAddress }

const list = HttpApiEndpoint.get("list", "/", {
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

const add = HttpApiEndpoint.post("add", "/", {
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

const get = HttpApiEndpoint.get("get", "/:email", { params, success: Data(Suppression), error: apiErrors(NotFound) })
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "Read a suppression",
    description: "The path holds the percent-encoded address. 404 means that the account may email it."
  }))

const remove = HttpApiEndpoint.delete("remove", "/:email", {
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
  .add(list, add, get, remove)
  .prefix("/v1/email/suppressions")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(
    OpenApi.annotations({
      title: "Email suppressions",
      description: "Addresses that get no mail: they bounced, complained or unsubscribed."
    })
  )
{}
