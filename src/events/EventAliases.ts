import { type EventName, eventNames, isMessageEvent, type MessageChannel } from "./EventNames.ts"

/** An event name and, for `message.*`, its channel. */
export interface Topic {
  readonly event: EventName
  readonly channel?: MessageChannel
}

const smsEvents: ReadonlyArray<EventName> = ["message.sent", "message.delivered", "message.failed"]

/** All topics. Only WhatsApp has read and inbound messages (spec 6.4). */
export const topics: ReadonlyArray<Topic> = eventNames.flatMap((event): ReadonlyArray<Topic> => {
  if (!isMessageEvent(event)) return [{ event }]
  return smsEvents.includes(event) ? [{ event, channel: "whatsapp" }, { event, channel: "sms" }] : [{
    event,
    channel: "whatsapp"
  }]
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
