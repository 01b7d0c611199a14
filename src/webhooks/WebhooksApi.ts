import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { EventSubscription } from "../events/EventPattern.ts"
import * as Access from "../platform/http/Access.ts"
import { apiErrors } from "../platform/http/ApiError.ts"
import { NotFound, ValidationFailed } from "../platform/http/ApiErrors.ts"
import { Authentication } from "../platform/http/Authentication.ts"
import { RequestRules } from "../platform/http/RequestRules.ts"
import { Data, Nothing, Paged } from "../values/Envelope.ts"
import { DeliveryId, pathId, WebhookId } from "../values/Ids.ts"
import { pageQuery } from "../values/Page.ts"
import { textBetween } from "../values/Text.ts"
import { DeliveryDetail, DeliverySummary, Webhook } from "./Webhook.ts"
import { DeliveryStatus } from "./WebhookState.ts"

/** The URL's rules depend on the operator's settings, so the service checks them. */
const url = textBetween(1, 2048).annotate({ description: "HTTPS endpoint that receives the POSTs" })

export const NewWebhook = Schema.Struct({ url, events: EventSubscription })
export type NewWebhook = typeof NewWebhook.Type

export const WebhookChange = Schema.Struct({
  url: Schema.optionalKey(url),
  events: Schema.optionalKey(EventSubscription),
  is_active: Schema.optionalKey(Schema.Boolean)
})
export type WebhookChange = typeof WebhookChange.Type

const params = { id: pathId(WebhookId) }
const paid = { paid: "subscription" } as const

const list = HttpApiEndpoint.get("list", "/", { success: Data(Schema.Array(Webhook)) })
  .annotate(Access.Access, Access.full("webhooks:read"))
  .annotateMerge(OpenApi.annotations({ summary: "List webhooks", description: "All of the account, newest first." }))

const create = HttpApiEndpoint.post("create", "/", {
  payload: NewWebhook,
  success: Data(Webhook).pipe(HttpApiSchema.status(201)),
  error: apiErrors(ValidationFailed)
})
  .annotate(Access.Access, Access.full("webhooks:write", paid))
  .annotateMerge(OpenApi.annotations({
    summary: "Create a webhook",
    description: "The signing secret is shown whole in this answer only. Not part of the free trial."
  }))

const get = HttpApiEndpoint.get("get", "/:id", { params, success: Data(Webhook), error: apiErrors(NotFound) })
  .annotate(Access.Access, Access.full("webhooks:read"))
  .annotateMerge(
    OpenApi.annotations({ summary: "Read a webhook", description: "With the first characters of its secret." })
  )

const update = HttpApiEndpoint.put("update", "/:id", {
  params,
  payload: WebhookChange,
  success: Data(Webhook),
  error: apiErrors(NotFound, ValidationFailed)
})
  .annotate(Access.Access, Access.full("webhooks:write", paid))
  .annotateMerge(OpenApi.annotations({
    summary: "Change a webhook",
    description: "What is left out stays as it is. is_active: true also sets failure_count to 0."
  }))

const remove = HttpApiEndpoint.delete("remove", "/:id", { params, success: Nothing, error: apiErrors(NotFound) })
  .annotate(Access.Access, Access.full("webhooks:write", paid))
  .annotateMerge(OpenApi.annotations({
    summary: "Delete a webhook",
    description: "With its deliveries; what is on its way is not sent again."
  }))

const deliveries = HttpApiEndpoint.get("deliveries", "/:id/deliveries", {
  params,
  query: { ...pageQuery, status: Schema.optionalKey(DeliveryStatus), event: Schema.optionalKey(Schema.String) },
  success: Paged(DeliverySummary),
  error: apiErrors(NotFound, ValidationFailed)
})
  .annotate(Access.Access, Access.full("webhooks:read"))
  .annotateMerge(OpenApi.annotations({
    summary: "List deliveries",
    description: "Newest first, with the outcome of the last attempt."
  }))

const delivery = HttpApiEndpoint.get("delivery", "/:id/deliveries/:delivery_id", {
  params: { ...params, delivery_id: pathId(DeliveryId) },
  success: Data(DeliveryDetail),
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, Access.full("webhooks:read"))
  .annotateMerge(OpenApi.annotations({
    summary: "Read a delivery",
    description: "With the payload that was sent and every attempt."
  }))

/** Webhooks and their deliveries (spec 4.5). */
export class WebhooksApi extends HttpApiGroup.make("webhooks")
  .add(list, create, get, update, remove, deliveries, delivery)
  .prefix("/v1/webhooks")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "Webhooks" }))
{}
