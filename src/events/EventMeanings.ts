import type { EventName } from "./EventNames.ts"

/** When each event happens (spec 6.4), as people read it: half a sentence without a full stop. */
export const eventMeanings: Readonly<Record<EventName, string>> = {
  "message.sent": "a WhatsApp or SMS message was dispatched",
  "message.delivered": "the delivery of a WhatsApp or SMS message was confirmed",
  "message.read": "the recipient read a WhatsApp message",
  "message.failed": "a WhatsApp or SMS message failed for good",
  "message.received": "a WhatsApp message came in",
  "email.sent": "the upstream mail server accepted the email",
  "email.delivered": "the recipient's mail server confirmed the delivery",
  "email.opened": "the tracking pixel of an email was loaded",
  "email.clicked": "a tracked link of an email was followed",
  "email.bounced": "an email was refused, for good (hard) or not (soft)",
  "email.complained": "the recipient marked an email as spam",
  "email.bulk_completed": "a bulk email ended; the data counts what came of its recipients",
  "session.connected": "a WhatsApp session was paired",
  "session.disconnected": "a WhatsApp session lost its connection",
  "session.qr_updated": "a WhatsApp session has a new QR code, for example because the one before expired",
  "group.participant_added": "somebody was added to a WhatsApp group",
  "group.participant_removed": "somebody was removed from a WhatsApp group",
  "verify.completed": "a one-time code was confirmed",
  "verify.expired": "a one-time code expired without having been confirmed"
}
