/**
 * Writes docs/events.md, the catalogue of `src/events` as people read it: `node scripts/events.ts`. A test says that the
 * file is current.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, FileSystem, Result, Schema } from "effect"
import * as NodePath from "node:path"
import { eventAliases, type Topic, topics } from "../src/events/EventAliases.ts"
import { eventBody, exampleBody } from "../src/events/EventBody.ts"
import { eventMeanings } from "../src/events/EventMeanings.ts"
import { type EventName, eventNames } from "../src/events/EventNames.ts"
import { compile, EventSubscription, knownPatterns, matches } from "../src/events/EventPattern.ts"

/** What of JSON Schema the data of events uses. */
interface Shape {
  readonly type?: string
  readonly format?: string
  readonly description?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly anyOf?: ReadonlyArray<Shape>
  readonly properties?: Readonly<Record<string, Shape>>
}

const code = (text: string) => `\`${text}\``

const typeOf = ({ anyOf, enum: values, format, type }: Shape): string => {
  if (anyOf !== undefined) return anyOf.map(typeOf).join(" or ")
  if (values !== undefined) return values.map((value) => code(JSON.stringify(value))).join(" or ")
  return format === "date-time" ? "timestamp" : type ?? "anything"
}

/** The schema of `data`: of a topic with a channel, the member of the union that is that channel's. */
const dataOf = ({ channel, event }: Topic): Shape => {
  // The compiler of schemas gives any JSON Schema; Shape names what these use of it.
  const body = Schema.toJsonSchemaDocument(eventBody(event)).schema as Shape
  const data = body.properties?.["data"] ?? {}
  return data.anyOf?.find(({ properties }) => properties?.["channel"]?.enum?.[0] === channel) ?? data
}

const table = (rows: ReadonlyArray<readonly [name: string, type: string, meaning: string]>) => {
  const columns = rows.some(([, , meaning]) => meaning !== "") ? 3 : 2
  const line = (cells: ReadonlyArray<string>) => `| ${cells.slice(0, columns).join(" | ")} |`
  return [line(["Field of `data`", "Type", "Meaning"]), line(["---", "---", "---"]), ...rows.map(line)]
}

const fields = (topic: Topic) =>
  table(
    Object.entries(dataOf(topic).properties ?? {}).map(([name, shape]) =>
      [code(name), typeOf(shape), shape.description ?? ""] as const
    )
  )

const channelNames = { whatsapp: "WhatsApp", sms: "SMS" }

const aliasesOf = (event: EventName, channel: Topic["channel"]) =>
  [...eventAliases].filter(([, topic]) => topic.event === event && topic.channel === channel).map(([alias]) =>
    code(alias)
  )

const paragraphs = (topic: Topic, isOneOfSeveral: boolean) => {
  const { channel, event } = topic
  const aliases = aliasesOf(event, channel)
  return [
    ...(isOneOfSeveral && channel !== undefined ? [`**${channelNames[channel]}**`, ""] : []),
    ...(aliases.length === 0 ? [] : [`To subscribe to: ${code(event)} or ${aliases.join(", ")}.`, ""]),
    ...fields(topic),
    "",
    "```json",
    JSON.stringify(exampleBody(topic), null, 2),
    "```",
    ""
  ]
}

const section = (event: EventName) => {
  const own = topics.filter((topic) => topic.event === event)
  return [
    `### ${event}`,
    "",
    `When ${eventMeanings[event]}.`,
    "",
    ...own.flatMap((topic) => paragraphs(topic, own.length > 1))
  ]
}

const nameOf = ({ channel, event }: Topic) =>
  channel === undefined ? code(event) : `${code(event)} (${channelNames[channel]})`

const patternRow = (pattern: string) => {
  const compiled = compile([pattern])
  const named = topics.filter((topic) => matches(compiled, topic))
  const all = named.length === topics.length
  return `| ${code(pattern)} | ${all ? "every event" : named.map(nameOf).join(", ")} |`
}

const refusalOf = (name: string) =>
  Result.match(Schema.decodeResult(EventSubscription)([name]), {
    onSuccess: () => "",
    onFailure: ({ message }) => (message.split("\n")[0] ?? "").trim()
  })

const wildcards = knownPatterns.filter((pattern) => pattern.endsWith("*"))

/** The page as the catalogue gives it. */
export const text = [
  "<!-- Made from src/events by scripts/events.ts -->",
  "# Events",
  "",
  "What webhooks are told. How a delivery is signed, retried and deduplicated is in",
  "[webhooks/verify.md](webhooks/verify.md); the same as schemas is in `webhooks` of `/openapi.json`.",
  "",
  "Every body has four fields; clients ignore those that they do not know, and so should you:",
  "",
  "| Field | Type | |",
  "|---|---|---|",
  "| `id` | string | of the event: the same in every attempt and at every webhook, to deduplicate by |",
  "| `event` | string | one of the names below; never an alias |",
  "| `timestamp` | timestamp | when it happened, not when this attempt was made |",
  "| `data` | object | as below |",
  "",
  "A timestamp is UTC with six decimals: `2030-01-31T09:00:00.000000Z`. An event comes once its channel is served: a",
  "subscription may name events of channels that this node does not have, and then nothing comes.",
  "",
  "## Subscribing",
  "",
  "`events` of a webhook has 1 to 100 entries; an event is sent once, however many of them name it, and an entry that is",
  "there twice is kept once. Names are in lower case. An entry is one of these:",
  "",
  "- **`*`**: every event, also those that later versions add;",
  "- **a prefix and `.*`**, at any dot: every event whose name or alias begins so. There is no `*` in front or in the",
  "  middle;",
  "- **a name**: `message.*` events happen on several channels, and the bare name means all of them;",
  "- **an alias**, a name with its channel in front: the event on that channel alone. What is sent has the name without",
  "  the channel, and `data.channel` tells it.",
  "",
  "| Pattern | Names |",
  "|---|---|",
  ...wildcards.map(patternRow),
  "",
  "Anything else is refused with 422, naming what is near:",
  "",
  ...["email.bulk_complete", "*.sent"].map((name) => `- ${code(name)}: ${refusalOf(name)}`),
  "",
  "## Catalogue",
  "",
  ...eventNames.flatMap(section)
].join("\n")

/** Where the page is kept. */
export const path = NodePath.resolve(import.meta.dirname, "../docs/events.md")

const write = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.writeFileString(path, text))

if (import.meta.main) NodeRuntime.runMain(write.pipe(Effect.provide(NodeServices.layer)))
