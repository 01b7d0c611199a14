import { Schema } from "effect"

/** Events with a channel; their `data` contains `channel`. */
const messageEventNames = [
  "message.queued",
  "message.sent",
  "message.delivered",
  "message.read",
  "message.failed",
  "message.canceled",
  "message.received"
] as const

/**
 * All event names that are sent: lists A and B of spec 6.4, and those that it leaves out. List C contains aliases for
 * subscriptions.
 */
export const eventNames = [
  ...messageEventNames,
  "email.sent",
  "email.delivered",
  "email.opened",
  "email.clicked",
  "email.bounced",
  "email.complained",
  "email.failed",
  "email.suppressed",
  "email.delivery_delayed",
  "email.canceled",
  "email.bulk_completed",
  "session.connected",
  "session.disconnected",
  "session.qr_updated",
  "group.participant_added",
  "group.participant_removed",
  "verify.completed",
  "verify.expired",
  "webhook.unhealthy",
  "account.quota_warning",
  "account.quota_reached"
] as const

export const EventName = Schema.Literals(eventNames)
export type EventName = typeof EventName.Type

/** The channels of message events. */
export const MessageChannel = Schema.Literals(["whatsapp", "sms"])
export type MessageChannel = typeof MessageChannel.Type

const byChannel: ReadonlySet<string> = new Set(messageEventNames)

/** Whether the event is one of `message.*`, which have a channel. */
const isMessageEvent = (event: EventName): event is (typeof messageEventNames)[number] => byChannel.has(event)

/** An event name and, for `message.*`, its channel. */
export interface Topic {
  readonly event: EventName
  readonly channel?: MessageChannel
}

const whatsAppOnly: ReadonlySet<EventName> = new Set(["message.read", "message.received"])

/** All topics. Only WhatsApp has read and inbound messages (spec 6.4). */
export const topics: ReadonlyArray<Topic> = eventNames.flatMap((event): ReadonlyArray<Topic> => {
  if (!isMessageEvent(event)) return [{ event }]
  const whatsapp = { event, channel: "whatsapp" } as const
  return whatsAppOnly.has(event) ? [whatsapp] : [whatsapp, { event, channel: "sms" }]
})

const aliasOf = ({ channel, event }: Topic): string | undefined => {
  if (channel === "sms") return event.replace("message.", "sms.")
  const ofWhatsApp = channel === "whatsapp" || event.startsWith("session.") || event.startsWith("group.")
  return ofWhatsApp ? `whatsapp.${event}` : undefined
}

/**
 * Names that begin with a channel (list C of spec 6.4, completed to every topic), with their topic. Subscriptions
 * accept them. The sent name stays that of list A or B, so that an event's body does not depend on its receiver.
 */
export const eventAliases: ReadonlyMap<string, Topic> = new Map(
  topics.flatMap((topic) => {
    const alias = aliasOf(topic)
    return alias === undefined ? [] : [[alias, topic] as const]
  })
)

const byName: ReadonlyMap<string, Topic> = new Map(
  [...topics].reverse().map((topic): readonly [string, Topic] => [topic.event, topic])
)

/** The topic of a sent name or an alias. A bare `message.*` name means WhatsApp if both channels have it. */
export const resolveTopic = (name: string): Topic | undefined => eventAliases.get(name) ?? byName.get(name)

/** When the service publishes each event (spec 6.4): a clause without a full stop. */
export const eventMeanings: Readonly<Record<EventName, string>> = {
  "message.queued": "a WhatsApp or SMS message was accepted and waits to be sent",
  "message.sent": "WhatsApp or the SMS provider accepted a message",
  "message.delivered": "a WhatsApp or SMS message was delivered",
  "message.read": "the recipient read a WhatsApp message",
  "message.failed": "a WhatsApp or SMS message failed permanently",
  "message.canceled": "a WhatsApp or SMS message was canceled before it was sent",
  "message.received": "a WhatsApp message arrived",
  "email.sent": "the relay accepted the email",
  "email.delivered": "the recipient's mail server confirmed the delivery",
  "email.opened": "the tracking pixel of an email was loaded",
  "email.clicked": "a tracked link in an email was followed",
  "email.bounced": "an email was rejected permanently (hard) or temporarily (soft)",
  "email.complained": "the recipient marked an email as spam",
  "email.failed": "an email could not be sent, for another reason than a bounce",
  "email.suppressed": "an email was not sent, because its address is suppressed",
  "email.delivery_delayed": "an attempt to send an email failed for now, and another one follows",
  "email.canceled": "an email was canceled before it was sent",
  "email.bulk_completed": "a bulk email ended; the data counts the outcomes of its recipients",
  "session.connected": "a WhatsApp session was paired or reconnected",
  "session.disconnected": "a WhatsApp session lost its connection",
  "session.qr_updated": "a WhatsApp session has a new QR code, for example because the previous one expired",
  "group.participant_added": "a participant was added to a WhatsApp group",
  "group.participant_removed": "a participant was removed from a WhatsApp group",
  "verify.completed": "a one-time code was confirmed",
  "verify.expired": "a one-time code expired unconfirmed",
  "webhook.unhealthy": "another webhook of the account became unhealthy",
  "account.quota_warning": "80 percent of a monthly quota are used",
  "account.quota_reached": "a monthly quota is used up"
}

/** What can become of a message. `accepted` are the recipients of requests that are not suppressed. */
export const CountedOutcome = Schema.Literals([
  "accepted",
  "sent",
  "delivered",
  "read",
  "failed",
  "suppressed",
  "canceled",
  "complained",
  "received"
])
export type CountedOutcome = typeof CountedOutcome.Type
