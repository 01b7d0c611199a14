import { Schema } from "effect"
import { wire } from "../../platform/http/ApiError.ts"

/** Nothing is delivered to a webhook that is switched off or unhealthy, so nothing is queued for it by hand either. */
export class WebhookNotActive extends Schema.TaggedError<WebhookNotActive>()(
  "WebhookNotActive",
  { status: Schema.Literals(["unhealthy", "disabled"]) },
  wire(409, "webhook_not_active", 4097)
) {
  override get message() {
    return `The webhook is ${this.status}. Switch it on by PUT with is_active: true, then ask again.`
  }
}

/** The payload of an event is kept for some days only; its deliveries are remembered for longer. */
export class EventExpired extends Schema.TaggedError<EventExpired>()(
  "EventExpired",
  {},
  wire(410, "event_expired", 4101)
) {
  override get message() {
    return "The payload of this event is kept no longer, so it cannot be sent again."
  }
}
