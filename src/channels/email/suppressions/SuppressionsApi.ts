import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import * as Access from "../../../platform/http/Access.ts"
import { apiErrors } from "../../../platform/http/ApiError.ts"
import { NotFound, ValidationFailed } from "../../../platform/http/ApiErrors.ts"
import { Authentication } from "../../../platform/http/Authentication.ts"
import { RequestRules } from "../../../platform/http/RequestRules.ts"
import { EmailAddress } from "../../../values/EmailAddress.ts"
import { Data, Nothing, Paged } from "../../../values/Envelope.ts"
import { pageQuery } from "../../../values/Page.ts"
import { Suppression, SuppressionReason } from "./Suppression.ts"
import { ComplaintNotRemovable } from "./SuppressionErrors.ts"

/** What is learnt from recipients and mail servers is not to be claimed by hand. */
const byHand = Schema.Literal("manual")
  .annotate({ message: "must be \"manual\", or be left out: the service itself learns of the other reasons" })

const NewSuppression = Schema.Struct({ email: EmailAddress, reason: Schema.optionalKey(byHand) })

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
    description: "The addresses that this account does not write to, newest first."
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
      "Holds for mail that was accepted before, too, unless it is being sent right now. An address that is suppressed already is answered with 201 as well, and keeps its reason."
  }))

const get = HttpApiEndpoint.get("get", "/:email", { params, success: Data(Suppression), error: apiErrors(NotFound) })
  .annotate(Access.Access, reading)
  .annotateMerge(OpenApi.annotations({
    summary: "Read a suppression",
    description: "By the address, percent-encoded; 404 says that the account may write to it."
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
      "By the address, percent-encoded. Mail from now on goes there again; messages that were left out stay so. A complaint stays."
  }))

/** The suppressions of an account: read, and changed by hand. */
export class SuppressionsApi extends HttpApiGroup.make("suppressions")
  .add(list, add, get, remove)
  .prefix("/v1/email/suppressions")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "Email suppressions" }))
{}
