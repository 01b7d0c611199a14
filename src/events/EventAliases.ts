import { type EventName, eventNames, isMessageEvent, type MessageChannel } from "./EventNames.ts"

/** One kind of domainEvent: an event name and, for `message.*`, the channel it happened on. */
export interface Topic {
  readonly event: EventName
  readonly channel?: MessageChannel
}

const smsEvents: ReadonlyArray<EventName> = ["message.sent", "message.delivered", "message.failed"]

/** Every topic there is. WhatsApp alone tells of read and of inbound messages (spec 6.4). */
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
 * Names with a channel in front (list C of spec 6.4, completed to every topic of a channel), each with the topic it
 * stands for. They are accepted in subscriptions; the name that is sent stays that of list A or B, so that the body
 * of an event does not depend on who receives it.
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

/** The topic that a sent name or an alias means; a bare `message.*` name means WhatsApp where both channels have it. */
export const resolveTopic = (name: string): Topic | undefined => eventAliases.get(name) ?? byName.get(name)
