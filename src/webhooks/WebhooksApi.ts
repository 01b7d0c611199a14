import { Effect, Schema, SchemaTransformation } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { EventSubscription } from "../events/EventPattern.ts"
import * as Access from "../platform/http/Access.ts"
import { apiErrors } from "../platform/http/ApiError.ts"
import { NotFound, ServiceUnavailable, ValidationFailed } from "../platform/http/ApiErrors.ts"
import { Authentication } from "../platform/http/Authentication.ts"
import { RequestRules } from "../platform/http/RequestRules.ts"
import { Data, Done, Nothing, Paged } from "../values/Envelope.ts"
import { DeliveryId, pathId, WebhookId } from "../values/Ids.ts"
import { sortedPageQuery } from "../values/Page.ts"
import { textBetween } from "../values/Text.ts"
import { TimestampInput } from "../values/Timestamp.ts"
import { DeliveryStatus } from "./delivery/DeliveryState.ts"
import { DeliveryDetail, DeliverySummary, Webhook } from "./endpoint/Webhook.ts"
import { EventExpired, WebhookNotActive } from "./endpoint/WebhookErrors.ts"

/** The URL's rules depend on the operator's settings, so the service checks them. */
const url = textBetween(1, 2048).annotate({ description: "HTTPS endpoint that receives the POSTs" })

export const NewWebhook = Schema.Struct({
  url,
  events: EventSubscription,
  is_active: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "false: it gets nothing until it is switched on" })
  )
})
export type NewWebhook = typeof NewWebhook.Type

export const WebhookChange = Schema.Struct({
  url: Schema.optionalKey(url),
  events: Schema.optionalKey(EventSubscription),
  is_active: Schema.optionalKey(Schema.Boolean)
})
export type WebhookChange = typeof WebhookChange.Type

const longestOverlap = 7 * 24 * 60 * 60

const overlap = 86_400

/** How long the secret before and the new one overlap. */
export const SecretRotation = Schema.Struct({
  overlap_seconds: Schema.Int
    .annotate({ description: "How long the secret before signs beside the new one, a day (86400) unless it is given" })
    .check(Schema.isBetween({ minimum: 0, maximum: longestOverlap }, {
      message: `must be a whole number from 0 to ${longestOverlap}`
    }))
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(overlap)))
})
export type SecretRotation = typeof SecretRotation.Type

/** The library reads a body that is not there as null. */
const noBody = Schema.Null.pipe(
  Schema.decodeTo(
    Schema.toType(SecretRotation),
    SchemaTransformation.transform({ decode: () => ({ overlap_seconds: overlap }), encode: () => null })
  )
)

/** Which event to simulate. */
const WebhookTest = Schema.Struct({
  event: textBetween(1, 100).annotate({
    description: "Name of the event to simulate: one that is sent, or one with its channel, such as sms.delivered"
  })
})

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

const rotateSecret = HttpApiEndpoint.post("rotateSecret", "/:id/rotate-secret", {
  params,
  payload: [SecretRotation, noBody],
  success: Data(Webhook),
  error: apiErrors(NotFound, ValidationFailed)
})
  .annotate(Access.Access, Access.full("webhooks:write", paid))
  .annotateMerge(OpenApi.annotations({
    summary: "Rotate a webhook's secret",
    description:
      "The new secret is shown whole in this answer only. While both overlap, X-Service-Signature is the new "
      + "key's, X-Service-Signature-Previous the old one's, and webhook-signature carries both. A secret that was "
      + "previous before signs no more; overlap_seconds 0 ends the old one at once."
  }))

const remove = HttpApiEndpoint.delete("remove", "/:id", { params, success: Nothing, error: apiErrors(NotFound) })
  .annotate(Access.Access, Access.full("webhooks:write", paid))
  .annotateMerge(OpenApi.annotations({
    summary: "Delete a webhook",
    description: "With its deliveries; what is on its way is not sent again."
  }))

const test = HttpApiEndpoint.post("test", "/:id/test", {
  params,
  payload: WebhookTest,
  success: Done(DeliveryDetail),
  error: apiErrors(NotFound, ValidationFailed, ServiceUnavailable)
})
  .annotate(Access.Access, Access.full("webhooks:write"))
  .annotateMerge(OpenApi.annotations({
    summary: "Test a webhook",
    description:
      "Sends an example of the event now, with X-Service-Test: true, and answers with the delivery when its one attempt "
      + "has ended. It is made whatever the webhook listens to, and while it is disabled or unhealthy too, which it "
      + "stays; a success sets failure_count to 0, a failure is not counted and not retried."
  }))

const deliveries = HttpApiEndpoint.get("deliveries", "/:id/deliveries", {
  params,
  query: {
    ...sortedPageQuery,
    status: Schema.optionalKey(DeliveryStatus),
    event: Schema.optionalKey(
      Schema.String.annotate({
        description: "Its name; by one with a channel, such as sms.delivered, that of all channels"
      })
    ),
    from_date: Schema.optionalKey(TimestampInput),
    to_date: Schema.optionalKey(TimestampInput)
  },
  success: Paged(DeliverySummary),
  error: apiErrors(NotFound, ValidationFailed)
})
  .annotate(Access.Access, Access.full("webhooks:read"))
  .annotateMerge(OpenApi.annotations({
    summary: "List deliveries",
    description:
      "Newest first, or by sort, with the outcome of the last attempt. from_date and to_date ask for what was created from one moment on and before the other."
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

const redeliver = HttpApiEndpoint.post("redeliver", "/:id/deliveries/:delivery_id/redeliver", {
  params: { ...params, delivery_id: pathId(DeliveryId) },
  success: Done(DeliveryDetail).pipe(HttpApiSchema.status(202)),
  error: apiErrors(NotFound, WebhookNotActive, EventExpired)
})
  .annotate(Access.Access, Access.full("webhooks:write"))
  .annotateMerge(OpenApi.annotations({
    summary: "Deliver again",
    description:
      "Queues the event as a new delivery, whatever came of this one: the same event id and the same bytes, with all its "
      + "attempts before it. A test stays a test, with one attempt."
  }))

/** Webhooks and their deliveries (spec 4.5). */
export class WebhooksApi extends HttpApiGroup.make("webhooks")
  .add(list, create, get, update, rotateSecret, remove, test, deliveries, delivery, redeliver)
  .prefix("/v1/webhooks")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(OpenApi.annotations({ title: "Webhooks" }))
{}
