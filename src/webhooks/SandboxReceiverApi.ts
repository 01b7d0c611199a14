import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import * as Access from "../platform/http/Access.ts"
import { apiErrors } from "../platform/http/ApiError.ts"
import { ValidationFailed } from "../platform/http/ApiErrors.ts"
import { Authentication } from "../platform/http/Authentication.ts"
import { RequestRules } from "../platform/http/RequestRules.ts"
import { Data } from "../values/Page.ts"
import { SandboxClosed, SandboxReceiver } from "./endpoint/SandboxReceiver.ts"

const find = HttpApiEndpoint.get("find", "/", {
  success: Data(SandboxReceiver),
  error: apiErrors(SandboxClosed)
})
  .annotate(Access.Access, Access.full("webhooks:read"))
  .annotateMerge(OpenApi.annotations({
    summary: "Get the webhook receiver of the sandbox",
    description:
      "An address of this service for webhooks, to try them without an endpoint. It answers 204 to every POST, and keeps "
      + "nothing: the webhook's deliveries show what was sent. There is one for each account where the sandbox is open."
  }))

const change = HttpApiEndpoint.put("change", "/", {
  payload: Schema.Struct({
    failing: Schema.Boolean.annotate({ description: "true: it answers 500 for five minutes. false: 204 again" })
  }).annotate({ identifier: "SandboxReceiverChange" }),
  success: Data(SandboxReceiver),
  error: apiErrors(SandboxClosed, ValidationFailed)
})
  .annotate(Access.Access, Access.full("webhooks:write"))
  .annotateMerge(OpenApi.annotations({
    summary: "Make the webhook receiver fail",
    description:
      "With `failing: true` it answers 500 for the next five minutes, with `false` it answers 204 again. Deliveries are "
      + "retried as usual, and a webhook at this address is unhealthy as soon as one of them has used up its attempts."
  }))

/**
 * The webhook receiver of the sandbox. Both kinds of keys use it: unlike the messages of the sandbox, which live keys must not
 * take for real ones, it is the account's own endpoint, and the first webhook of a development node belongs to a live account.
 */
export class SandboxReceiverApi extends HttpApiGroup.make("sandboxReceiver")
  .add(find, change)
  .prefix("/v1/sandbox/receiver")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({
    title: "Sandbox receiver",
    description: "An endpoint for webhooks that fails on demand."
  }))
{}
