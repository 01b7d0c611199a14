import { Schema } from "effect"
import { wire } from "../../platform/http/ApiError.ts"

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
