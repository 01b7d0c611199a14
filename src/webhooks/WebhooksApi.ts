import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { EventChannel } from "../events/EventFilter.ts"
import { EventSubscription, FilteredEvent } from "../events/EventPattern.ts"
import * as Access from "../platform/http/Access.ts"
import { apiErrors } from "../platform/http/ApiError.ts"
import { NotFound, PlanLimitExceeded, ValidationFailed } from "../platform/http/ApiErrors.ts"
import { Authentication } from "../platform/http/Authentication.ts"
import { BodyLimit, RequestRules, texts, WaitsOutside } from "../platform/http/RequestRules.ts"
import { DeliveryId, EventId, pathId, WebhookId } from "../values/Ids.ts"
import { absentBody, overlapSeconds } from "../values/Overlap.ts"
import { Data, Done, Nothing, Paged, pageQuery, sortedPageQuery, StatusFilter } from "../values/Page.ts"
import { documentedPattern, textBetween } from "../values/Text.ts"
import { TimestampInput } from "../values/Timestamp.ts"
import { DeliveryStatus } from "./delivery/DeliveryState.ts"
import { EventExpired, RetryPolicyName, Webhook, WebhookNotActive } from "./endpoint/Webhook.ts"
import { WebhookHeaders } from "./endpoint/WebhookHeaders.ts"
import { DeliveryDetail, DeliverySummary } from "./history/Delivery.ts"
import { WebhookStatistics } from "./history/WebhookStatistics.ts"

/** The rules for the URL depend on settings, so the service checks them. */
const url = textBetween(1, 2048).check(documentedPattern("^[Hh][Tt][Tt][Pp][Ss]?://[^#]+$"))
  .annotate({
    description:
      "HTTPS endpoint that receives the POSTs. Stored in its normal form: the host in lower case, a path of at least /."
  })

const distinct = Schema.isUnique({ message: "each value may appear once" })

const channels = Schema.Array(EventChannel)
  .annotate({ description: "Only events of these channels. Empty: events of all channels, and those without one" })
  .check(distinct)

const Tag = Schema.String.check(
  Schema.isPattern(/^[\w.:-]{1,64}$/, { message: "must have 1 to 64 letters, digits or _ . : -" })
)

const tags = Schema.Array(Tag)
  .annotate({ description: "Only events of messages with at least one of these tags. Empty: all events" })
  .check(Schema.isMaxLength(20, { message: "at most 20 tags" }), distinct)

const retry_policy = RetryPolicyName.annotate({
  description: "standard (the default): 4 attempts within three minutes. extended: 9 attempts within about 28 hours"
})

/** How deliveries are chosen and sent. */
const options = {
  retry_policy: Schema.optionalKey(retry_policy),
  channels: Schema.optionalKey(channels),
  tags: Schema.optionalKey(tags),
  headers: Schema.optionalKey(WebhookHeaders)
}

export const NewWebhook = Schema.Struct({
  url,
  events: EventSubscription,
  is_active: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "false: it gets no events until it is activated" })
  ),
  ...options
}).annotate({ identifier: "NewWebhook" })
export type NewWebhook = typeof NewWebhook.Type

export const WebhookChange = Schema.Struct({
  url: Schema.optionalKey(url),
  events: Schema.optionalKey(EventSubscription),
  is_active: Schema.optionalKey(Schema.Boolean),
  ...options
}).annotate({ identifier: "WebhookChange" })
export type WebhookChange = typeof WebhookChange.Type

/** The body of a rotation. */
export const SecretRotation = Schema.Struct({
  overlap_seconds: overlapSeconds("How many seconds the previous secret signs as well")
}).annotate({ identifier: "SecretRotation" })
export type SecretRotation = typeof SecretRotation.Type

const WebhookTest = Schema.Struct({
  event: textBetween(1, 100).annotate({
    description: "Name of the event to simulate, as it is sent or with its channel, for example sms.delivered"
  })
}).annotate({ identifier: "WebhookTest" })

const params = { id: pathId(WebhookId) }
const paid = { paid: "subscription" } as const

const list = HttpApiEndpoint.get("list", "/", {
  query: pageQuery,
  success: Paged(Webhook),
  error: apiErrors(ValidationFailed)
})
  .annotate(Access.Access, Access.full("webhooks:read"))
  .annotateMerge(
    OpenApi.annotations({ summary: "List webhooks", description: "Newest first." })
  )

const create = HttpApiEndpoint.post("create", "/", {
  payload: NewWebhook,
  success: Data(Webhook).pipe(HttpApiSchema.status(201)),
  error: apiErrors(ValidationFailed, PlanLimitExceeded)
})
  .annotate(BodyLimit, texts)
  .annotate(Access.Access, Access.full("webhooks:write", paid))
  .annotateMerge(OpenApi.annotations({
    summary: "Create a webhook",
    description: "Only this response shows the whole signing secret. Not part of the free trial."
  }))

const get = HttpApiEndpoint.get("get", "/:id", { params, success: Data(Webhook), error: apiErrors(NotFound) })
  .annotate(Access.Access, Access.full("webhooks:read"))
  .annotateMerge(
    OpenApi.annotations({ summary: "Read a webhook", description: "Shows the first characters of its secret." })
  )

const update = HttpApiEndpoint.put("update", "/:id", {
  params,
  payload: WebhookChange,
  success: Data(Webhook),
  error: apiErrors(NotFound, ValidationFailed)
})
  .annotate(BodyLimit, texts)
  .annotate(Access.Access, Access.full("webhooks:write", paid))
  .annotateMerge(OpenApi.annotations({
    summary: "Change a webhook",
    description:
      "Omitted fields keep their values. headers replaces all headers; a value of ******** keeps the stored one. "
      + "A change makes an unhealthy webhook active and sets failure_count to 0, unless is_active is false. So does "
      + "is_active: true of every webhook."
  }))

const rotateSecret = HttpApiEndpoint.post("rotateSecret", "/:id/rotate-secret", {
  params,
  payload: [SecretRotation, absentBody(SecretRotation)],
  success: Data(Webhook),
  error: apiErrors(NotFound, ValidationFailed)
})
  .annotate(Access.Access, Access.full("webhooks:write", paid))
  .annotateMerge(OpenApi.annotations({
    summary: "Rotate a webhook's secret",
    description:
      "Only this response shows the whole new secret. During the overlap, X-Service-Signature is signed with the new "
      + "secret, X-Service-Signature-Previous with the previous one, and webhook-signature has both signatures. An older "
      + "previous secret stops signing at once. overlap_seconds: 0 ends the previous secret at once."
  }))

const remove = HttpApiEndpoint.delete("remove", "/:id", { params, success: Nothing, error: apiErrors(NotFound) })
  .annotate(Access.Access, Access.full("webhooks:write", paid))
  .annotateMerge(OpenApi.annotations({
    summary: "Delete a webhook",
    description: "Deletes its deliveries too. An attempt in flight is not repeated."
  }))

const test = HttpApiEndpoint.post("test", "/:id/test", {
  params,
  payload: WebhookTest,
  success: Done(DeliveryDetail),
  error: apiErrors(NotFound, ValidationFailed)
})
  .annotate(WaitsOutside, true)
  .annotate(Access.Access, Access.full("webhooks:write"))
  .annotateMerge(OpenApi.annotations({
    summary: "Test a webhook",
    description:
      "Sends an example of the event now, with X-Service-Test: true, and responds with the delivery after its one attempt. "
      + "It ignores the webhook's list of events, and works while the webhook is disabled or unhealthy, without changing "
      + "that. A success sets failure_count to 0; a failure is not counted and not retried."
  }))

const statistics = HttpApiEndpoint.get("statistics", "/:id/statistics", {
  params,
  success: Data(WebhookStatistics),
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, Access.full("webhooks:read"))
  .annotateMerge(OpenApi.annotations({
    summary: "Read the figures of a webhook",
    description:
      "How many attempts succeeded and failed in each of the last 24 hours, how long they took, and what waits. An attempt "
      + "is counted in the hour of its outcome, within some seconds. POST /v1/webhooks/{id}/test is not counted."
  }))

const FilteredMessage = Schema.String.check(
  Schema.isPattern(/^(?:(?:email|sms|whatsapp)\/[1-9]\d{0,15}|(?:msg|ver)_[0-9A-HJKMNP-TV-Z]{26})$/, {
    message: "must be a channel and an id such as email/12, or an id that begins with msg_ or ver_"
  })
)

const deliveries = HttpApiEndpoint.get("deliveries", "/:id/deliveries", {
  params,
  query: {
    ...sortedPageQuery,
    status: Schema.optionalKey(DeliveryStatus),
    event: Schema.optionalKey(
      FilteredEvent.annotate({
        description: "The event's name; a name with a channel, for example sms.delivered, matches all channels"
      })
    ),
    event_id: Schema.optionalKey(EventId),
    response_code: Schema.optionalKey(StatusFilter).annotate({
      description: "The answer to the last attempt: a status such as 503, or a class such as 5xx"
    }),
    message: Schema.optionalKey(FilteredMessage).annotate({
      description:
        "A message that the events are about: its channel and id, such as email/12, or the id of a message with failover or of a verification. It is found as long as its events are kept"
    }),
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
      "Newest first, or by sort, with the outcome of the last attempt. from_date (inclusive) and to_date (exclusive) limit "
      + "when the deliveries were created."
  }))

const delivery = HttpApiEndpoint.get("delivery", "/:id/deliveries/:delivery_id", {
  params: { ...params, delivery_id: pathId(DeliveryId) },
  success: Data(DeliveryDetail),
  error: apiErrors(NotFound)
})
  .annotate(Access.Access, Access.full("webhooks:read"))
  .annotateMerge(OpenApi.annotations({
    summary: "Read a delivery",
    description: "With its payload and every attempt."
  }))

const redeliver = HttpApiEndpoint.post("redeliver", "/:id/deliveries/:delivery_id/redeliver", {
  params: { ...params, delivery_id: pathId(DeliveryId) },
  success: Done(DeliveryDetail).pipe(HttpApiSchema.status(202)),
  error: apiErrors(NotFound, WebhookNotActive, EventExpired)
})
  .annotate(Access.Access, Access.full("webhooks:write"))
  .annotateMerge(OpenApi.annotations({
    summary: "Redeliver",
    description:
      "Queues the event as a new delivery with the same event id, the same bytes and a full set of attempts, whatever the "
      + "outcome of this one. A test stays a test, with one attempt."
  }))

/** Webhooks and their deliveries (spec 4.5). */
export class WebhooksApi extends HttpApiGroup.make("webhooks")
  .add(list, create, get, update, rotateSecret, remove, test, statistics, deliveries, delivery, redeliver)
  .prefix("/v1/webhooks")
  .middleware(RequestRules)
  .middleware(Authentication)
  .annotateMerge(
    OpenApi.annotations({
      title: "Webhooks",
      description: "Addresses that get signed events, and each delivery to them."
    })
  )
{}
