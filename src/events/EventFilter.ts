import { Schema } from "effect"
import type { EventName, MessageChannel } from "./EventNames.ts"

/** The channels of events. */
export const EventChannel = Schema.Literals(["email", "sms", "whatsapp"])
export type EventChannel = typeof EventChannel.Type

/** Which events a webhook gets of those that it subscribes to. An empty list does not filter. */
export interface EventFilter {
  readonly channels: ReadonlyArray<EventChannel>
  /** An event needs one of them. */
  readonly tags: ReadonlyArray<string>
}

interface Filtered {
  readonly event: EventName
  readonly channel?: MessageChannel | undefined
  readonly data: object
}

const byPrefix: Readonly<Record<string, EventChannel>> = { email: "email", session: "whatsapp", group: "whatsapp" }

/** The event's channel: by its name, or as its data says. */
const channelOf = ({ channel, data, event }: Filtered): unknown =>
  channel ?? byPrefix[event.slice(0, event.indexOf("."))] ?? ("channel" in data ? data.channel : undefined)

/** A `message.*` event without a channel is about several, so it passes. */
const passesChannels = (channels: EventFilter["channels"], filtered: Filtered): boolean => {
  if (channels.length === 0) return true
  const channel = channelOf(filtered)
  return channel === undefined
    ? filtered.event.startsWith("message.")
    : channels.some((wanted) => wanted === channel)
}

const passesTags = (tags: EventFilter["tags"], { data }: Filtered): boolean => {
  if (tags.length === 0) return true
  return "tags" in data && Array.isArray(data.tags) && data.tags.some((tag) => tags.includes(String(tag)))
}

/** Whether a filter lets the event through: its channel is wanted, and it has one of the tags. */
export const passes = ({ channels, tags }: EventFilter, filtered: Filtered): boolean =>
  passesChannels(channels, filtered) && passesTags(tags, filtered)
