import { Brand, Schema, SchemaTransformation } from "effect"
import { oneLine } from "../values/messageText.ts"
import { nearest } from "../values/nearest.ts"
import type { EventChannel } from "./EventFilter.ts"
import { eventAliases, type EventName, eventNames, resolveTopic, type Topic, topics } from "./EventNames.ts"

/** All names and aliases of events. */
const knownNames: ReadonlyArray<string> = [...eventNames, ...eventAliases.keys()]

/** Why an unknown word is refused, with similar known words, or with what to use `instead`. */
const unknownEvent = (
  word: string,
  { instead, known }: { readonly known: ReadonlyArray<string>; readonly instead: string }
): string => {
  const near = nearest(word.trim().toLowerCase(), known)
  return near.length === 0
    ? `unknown event "${oneLine(word)}", use ${instead}`
    : `unknown event "${oneLine(word)}", did you mean ${near.join(" or ")}?`
}

/** The refusal of an unknown word as an event name. */
export const unknownEventName = (word: string): string =>
  unknownEvent(word, { known: knownNames, instead: "a name such as \"message.sent\"" })

/** An event's name that filters know. */
export const FilteredEvent = Schema.String.check(
  Schema.makeFilter((name: string) => resolveTopic(name) === undefined ? unknownEventName(name) : undefined, {
    toJsonSchema: () => ({})
  })
)

/** The subscribed topics of a webhook: `event@channel` for each, and `event` for those that are not bound to a channel. */
export type CompiledPattern = Brand.Branded<ReadonlySet<string>, "CompiledPattern">
const CompiledPattern = Brand.nominal<CompiledPattern>()

interface OnChannel {
  readonly event: EventName
  readonly channel?: EventChannel | null | undefined
}

const keyOf = ({ channel = null, event }: OnChannel) => channel === null ? event : `${event}@${channel}`

const keys: ReadonlySet<string> = new Set(topics.map(keyOf))

/** An alias is bound to its channel, and a name is not. */
const named: ReadonlyArray<readonly [name: string, keys: ReadonlyArray<string>]> = [
  ...topics.map((topic) => [topic.event, [topic.event, keyOf(topic)]] as const),
  ...Array.from(eventAliases, ([alias, topic]) => [alias, [keyOf(topic)]] as const)
]

/** The keys of one pattern; none for an unknown pattern. */
const keysOf = (pattern: string): ReadonlyArray<string> => {
  const prefix = pattern === "*" || pattern.endsWith(".*") ? pattern.slice(0, -1) : undefined
  return named.filter(([name]) => prefix === undefined ? name === pattern : name.startsWith(prefix))
    .flatMap(([, of]) => of)
}

const prefixes = new Set(named.flatMap(([name]) => {
  const parts = name.split(".")
  return parts.slice(1).map((_, index) => `${parts.slice(0, index + 1).join(".")}.*`)
}))

/** Every word that a subscription may contain. */
export const knownPatterns: ReadonlyArray<string> = ["*", ...prefixes, ...eventNames, ...eventAliases.keys()]

/** Unknown patterns match nothing. The API refuses them, so only an event that a later version drops leads here. */
export const compile = (patterns: ReadonlyArray<string>): CompiledPattern =>
  CompiledPattern(new Set(patterns.flatMap(keysOf)))

/**
 * Whether a subscription matches the event. A message with failover may end on a channel without aliases, such as email:
 * then only the event's name matches. Events other than `message.*` ignore the channel.
 */
export const matches = (pattern: CompiledPattern, domainEvent: OnChannel): boolean => {
  const key = keyOf(domainEvent)
  return pattern.has(keys.has(key) ? key : domainEvent.event)
}

/** Every pattern that matches a topic. */
export const patternsOf = (topic: Topic): ReadonlyArray<string> =>
  knownPatterns.filter((pattern) => matches(compile([pattern]), topic))

const refusal = (pattern: string): string =>
  unknownEvent(pattern, {
    known: knownPatterns,
    instead: "\"*\", a prefix such as \"message.*\" or a name such as \"message.sent\""
  })

/** The form of every known pattern. */
const wordPattern = "^(?:\\*|[a-z_]+(?:\\.[a-z_]+)*(?:\\.\\*)?)$"

const Words = Schema.Array(
  Schema.String.check(
    Schema.isMaxLength(100, { message: "must have at most 100 characters" }),
    // For readers of the document. The names are checked once the number of words is known.
    Schema.makeFilter(() => undefined, { toJsonSchema: () => ({ pattern: wordPattern }) })
  )
).check(
  Schema.isMinLength(1, { message: "name at least one event, or \"*\" for all" }),
  Schema.isMaxLength(100, { message: "at most 100 events" })
)

/** Entries of a subscription: `*`, `prefix.*` at any depth, an event name or an alias (spec 6.4). */
const EventPatterns = Schema.Array(
  Schema.String.check(
    Schema.makeFilter((pattern) => keysOf(pattern).length > 0 ? undefined : refusal(pattern))
  )
)

/**
 * The `events` of a webhook: 1 to 100 patterns in the given order, without duplicates. The count is checked first,
 * because finding similar names is slow and a body may contain 100,000 of them.
 */
export const EventSubscription = Words.pipe(
  Schema.decodeTo(EventPatterns),
  Schema.decodeTo(
    Schema.toType(EventPatterns),
    SchemaTransformation.transform({
      decode: (patterns: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(patterns)],
      encode: (patterns: ReadonlyArray<string>): ReadonlyArray<string> => patterns
    })
  )
)
export type EventSubscription = typeof EventSubscription.Type
