import { Schema } from "effect"
import { EventChannel } from "../../events/EventFilter.ts"
import { wire } from "../../platform/http/ApiError.ts"
import { WebhookId } from "../../values/Ids.ts"
import { Timestamp } from "../../values/Timestamp.ts"

/**
 * Why a webhook is unhealthy (spec 3.3): its deliveries keep failing, all attempts of one met 410 Gone, or its backlog is
 * full.
 */
export const UnhealthyReason = Schema.Literals(["failing", "gone", "backlog_full"])
export type UnhealthyReason = typeof UnhealthyReason.Type

/** How long a failed delivery is retried: for minutes (spec 6.6), or for more than a day. */
export const RetryPolicyName = Schema.Literals(["standard", "extended"])
export type RetryPolicyName = typeof RetryPolicyName.Type

/** A webhook (spec 2.6). The response that creates it has the whole `secret`, later ones its first 12 characters. */
export const Webhook = Schema.Struct({
  id: WebhookId,
  url: Schema.String,
  events: Schema.Array(Schema.String),
  secret: Schema.String,
  is_active: Schema.Boolean,
  status: Schema.Literals(["active", "unhealthy", "disabled"]),
  unhealthy_reason: Schema.NullOr(UnhealthyReason),
  failure_count: Schema.Int,
  retry_policy: RetryPolicyName,
  channels: Schema.Array(EventChannel).annotate({ description: "Only events of these channels; empty: of all" }),
  tags: Schema.Array(Schema.String).annotate({ description: "Only events with one of these tags; empty: all events" }),
  headers: Schema.Record(Schema.String, Schema.String).annotate({
    description: "The names of its headers; no response shows their values"
  }),
  created_at: Timestamp
}).annotate({ identifier: "Webhook" })
export type Webhook = typeof Webhook.Type

/** A disabled or unhealthy webhook gets no deliveries, so it takes no redelivery either. */
export class WebhookNotActive extends Schema.TaggedError<WebhookNotActive>()(
  "WebhookNotActive",
  { status: Schema.Literals(["unhealthy", "disabled"]) },
  wire(409, "webhook_not_active", 4097)
) {
  override get message() {
    return `The webhook is ${this.status}. Activate it by PUT with is_active: true, then retry.`
  }
}

/** Payloads of events are kept for some days only; their deliveries are kept for longer. */
export class EventExpired extends Schema.TaggedError<EventExpired>()(
  "EventExpired",
  {},
  wire(410, "event_expired", 4101)
) {
  override get message() {
    return "This event's payload has expired, so it cannot be redelivered."
  }
}
