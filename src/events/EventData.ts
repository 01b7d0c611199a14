import { Schema } from "effect"
import { EventId } from "../values/Ids.ts"
import { Mode } from "../values/TestMode.ts"
import { Timestamp } from "../values/Timestamp.ts"
import * as Account from "./data/AccountEvents.ts"
import * as Email from "./data/EmailEvents.ts"
import * as Message from "./data/MessageEvents.ts"
import * as Session from "./data/SessionEvents.ts"
import * as Verify from "./data/VerifyEvents.ts"
import type { EventName, Topic } from "./EventNames.ts"

/** The schema of `data` for every event (spec 6.5), with an example for each of its channels. */
export const EventData = {
  "message.queued": Message.MessageQueued,
  "message.canceled": Message.MessageCanceled,
  "message.sent": Message.MessageSent,
  "message.delivered": Message.MessageDelivered,
  "message.read": Message.MessageRead,
  "message.failed": Message.MessageFailed,
  "message.received": Message.MessageReceived,
  "email.sent": Email.EmailSent,
  "email.delivered": Email.EmailDelivered,
  "email.opened": Email.EmailOpened,
  "email.clicked": Email.EmailClicked,
  "email.bounced": Email.EmailBounced,
  "email.complained": Email.EmailComplained,
  "email.failed": Email.EmailFailed,
  "email.suppressed": Email.EmailSuppressed,
  "email.delivery_delayed": Email.EmailDeliveryDelayed,
  "email.canceled": Email.EmailCanceled,
  "email.bulk_completed": Email.EmailBulkCompleted,
  "session.connected": Session.SessionConnected,
  "session.disconnected": Session.SessionDisconnected,
  "session.qr_updated": Session.SessionQrUpdated,
  "group.participant_added": Session.GroupParticipantAdded,
  "group.participant_removed": Session.GroupParticipantRemoved,
  "verify.completed": Verify.VerifyCompleted,
  "verify.expired": Verify.VerifyExpired,
  "webhook.unhealthy": Account.WebhookUnhealthy,
  "account.quota_warning": Account.QuotaWarning,
  "account.quota_reached": Account.QuotaReached
} as const satisfies Record<EventName, Schema.Constraint & { readonly EncodingServices: never }>

/** `data` of one event: `EventData<"email.sent">`. */
export type EventData<Name extends EventName = EventName> = (typeof EventData)[Name]["Type"]

/** The example data of a topic, for the test endpoint and the documentation. */
export const exampleOf = ({ channel, event }: Topic): EventData => {
  const examples: ReadonlyArray<EventData> = Schema.resolveAnnotations(EventData[event])?.examples ?? []
  const ofChannel = examples.find((example) => "channel" in example && example.channel === channel)
  const example = ofChannel ?? examples[0]
  if (example === undefined) throw new TypeError(`${event} has no example`) // withExamples takes at least one
  return example
}

const id = EventId.annotate({
  description: "identical in every attempt and at every webhook; deduplicate by it"
})
const timestamp = Timestamp.annotate({ description: "when the event happened, not when this attempt was made" })

const mode = Mode.annotate({ description: "test: the event of a test message, for a webhook of a test key" })

/** The schema of the body that webhooks receive (spec 6.2), with the id to deduplicate by. */
export const eventBody = (event: EventName) =>
  Schema.Struct({ id, event: Schema.Literal(event), mode, timestamp, data: EventData[event] })

/** The example body of a topic. */
export const exampleBody = (topic: Topic) => ({
  id: "evt_01HZX3T5K8Q2W4Y6B9D1F3H5J7",
  event: topic.event,
  mode: "live",
  timestamp: "2030-01-31T09:00:00.000000Z",
  data: exampleOf(topic)
})
