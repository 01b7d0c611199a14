import { Schema } from "effect"

/** Events that exist once per channel; their `data` carries `channel`. */
export const messageEventNames = [
  "message.sent",
  "message.delivered",
  "message.read",
  "message.failed",
  "message.received"
] as const

/**
 * Every event name that is ever sent: lists A and B of spec 6.4 and the two of verification.
 * List C holds names that only subscribe, see `EventAliases.ts`.
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

/** The channels that message events are told apart by. */
export const MessageChannel = Schema.Literals(["whatsapp", "sms"])
export type MessageChannel = typeof MessageChannel.Type

const byChannel: ReadonlySet<string> = new Set(messageEventNames)

/** Whether the event is one of `message.*`, which happen on a channel. */
export const isMessageEvent = (event: EventName): event is (typeof messageEventNames)[number] => byChannel.has(event)
