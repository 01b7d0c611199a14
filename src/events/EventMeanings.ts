import type { EventName } from "./EventNames.ts"

/** When the service publishes each event (spec 6.4): a clause without a full stop. */
export const eventMeanings: Readonly<Record<EventName, string>> = {
  "message.sent": "WhatsApp or the SMS provider accepted a message",
  "message.delivered": "a WhatsApp or SMS message was delivered",
  "message.read": "the recipient read a WhatsApp message",
  "message.failed": "a WhatsApp or SMS message failed permanently",
  "message.received": "a WhatsApp message arrived",
  "email.sent": "the relay accepted the email",
  "email.delivered": "the recipient's mail server confirmed the delivery",
  "email.opened": "the tracking pixel of an email was loaded",
  "email.clicked": "a tracked link in an email was followed",
  "email.bounced": "an email was rejected permanently (hard) or temporarily (soft)",
  "email.complained": "the recipient marked an email as spam",
  "email.bulk_completed": "a bulk email ended; the data counts the outcomes of its recipients",
  "session.connected": "a WhatsApp session was paired or reconnected",
  "session.disconnected": "a WhatsApp session lost its connection",
  "session.qr_updated": "a WhatsApp session has a new QR code, for example because the previous one expired",
  "group.participant_added": "a participant was added to a WhatsApp group",
  "group.participant_removed": "a participant was removed from a WhatsApp group",
  "verify.completed": "a one-time code was confirmed",
  "verify.expired": "a one-time code expired unconfirmed"
}
