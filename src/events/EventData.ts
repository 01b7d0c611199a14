import { Schema } from "effect"
import * as Email from "./data/EmailEvents.ts"
import * as Message from "./data/MessageEvents.ts"
import * as Session from "./data/SessionEvents.ts"
import * as Verify from "./data/VerifyEvents.ts"
import type { Topic } from "./EventAliases.ts"
import type { EventName } from "./EventNames.ts"

/** The schema of `data` for every event (spec 6.5), with an example for each of its channels. */
export const EventData = {
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
  "email.bulk_completed": Email.EmailBulkCompleted,
  "session.connected": Session.SessionConnected,
  "session.disconnected": Session.SessionDisconnected,
  "session.qr_updated": Session.SessionQrUpdated,
  "group.participant_added": Session.GroupParticipantAdded,
  "group.participant_removed": Session.GroupParticipantRemoved,
  "verify.completed": Verify.VerifyCompleted,
  "verify.expired": Verify.VerifyExpired
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
