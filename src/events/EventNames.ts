import { Schema } from "effect"

/** Events with a channel; their `data` contains `channel`. */
export const messageEventNames = [
  "message.sent",
  "message.delivered",
  "message.read",
  "message.failed",
  "message.received"
] as const

/**
 * All event names that are sent: lists A and B of spec 6.4 and two for verification. List C contains aliases for
 * subscriptions, see `EventAliases.ts`.
 */
export const eventNames = [
  ...messageEventNames,
  "email.sent",
  "email.delivered",
  "email.opened",
  "email.clicked",
  "email.bounced",
  "email.complained",
  "email.bulk_completed",
  "session.connected",
  "session.disconnected",
  "session.qr_updated",
  "group.participant_added",
  "group.participant_removed",
  "verify.completed",
  "verify.expired"
] as const

export const EventName = Schema.Literals(eventNames)
export type EventName = typeof EventName.Type

/** The channels of message events. */
export const MessageChannel = Schema.Literals(["whatsapp", "sms"])
export type MessageChannel = typeof MessageChannel.Type

const byChannel: ReadonlySet<string> = new Set(messageEventNames)

/** Whether the event is one of `message.*`, which have a channel. */
export const isMessageEvent = (event: EventName): event is (typeof messageEventNames)[number] => byChannel.has(event)
