/**
 * Writes docs/events.md from the catalogue in `src/events`: `node scripts/events.ts`. A test checks that the file is
 * current.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, FileSystem, Result, Schema } from "effect"
import * as NodePath from "node:path"
import { eventBody, exampleBody } from "../src/events/EventData.ts"
import {
  eventAliases,
  eventMeanings,
  type EventName,
  eventNames,
  type Topic,
  topics
} from "../src/events/EventNames.ts"
import { compile, EventSubscription, knownPatterns, matches } from "../src/events/EventPattern.ts"

/** The subset of JSON Schema that event data uses. */
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

/** The schema of `data`. For a topic with a channel, the union's member for that channel. */
const dataOf = ({ channel, event }: Topic): Shape => {
  // The schema compiler returns any JSON Schema. Event data uses only the members of Shape.
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
    ...(aliases.length === 0 ? [] : [`Subscribe with ${code(event)} or ${aliases.join(", ")}.`, ""]),
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

/** The generated page. */
export const text = [
  "<!-- Generated from src/events by scripts/events.ts -->",
  "# Events",
  "",
  "The service sends these events to webhooks. [Verify a webhook](webhooks/verify.md) explains signatures, retries and",
  "deduplication. The schemas are in `webhooks` of `/openapi.json`.",
  "",
  "Every body has five fields. Ignore fields that you do not know:",
  "",
  "| Field | Type | |",
  "|---|---|---|",
  "| `id` | string | the event's id, the same in every attempt and at every webhook; use it to deduplicate |",
  "| `event` | string | one of the names below, never an alias |",
  "| `mode` | string | `live`, or `test` for what a test key sent |",
  "| `timestamp` | timestamp | the time of the event, not of this attempt |",
  "| `data` | object | see below |",
  "",
  "A timestamp is UTC with six decimals: `2030-01-31T09:00:00.000000Z`. You may subscribe to events of channels that are not",
  "enabled; nothing is sent until they are.",
  "",
  "## Subscribe",
  "",
  "`events` of a webhook has 1 to 100 entries. An event is sent once, even if several entries match it. Duplicate entries are",
  "merged. Names are in lower case. An entry is one of these:",
  "",
  "- **`*`**: every event, including those that later versions add;",
  "- **a prefix and `.*`**, at any dot: every event whose name or alias begins with it. `*` is not allowed in front or in the",
  "  middle;",
  "- **a name**: for `message.*` events, which several channels publish, the name matches all channels;",
  "- **an alias**, a name with its channel in front: the event on that channel only. The body has the name without the",
  "  channel; `data.channel` contains it.",
  "",
  "| Pattern | Names |",
  "|---|---|",
  ...wildcards.map(patternRow),
  "",
  "Any other entry gets 422 with a suggestion:",
  "",
  ...["email.bulk_complete", "*.sent"].map((name) => `- ${code(name)}: ${refusalOf(name)}`),
  "",
  "## Catalogue",
  "",
  ...eventNames.flatMap(section)
].join("\n")

/** The path of the page. */
export const path = NodePath.resolve(import.meta.dirname, "../docs/events.md")

const write = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.writeFileString(path, text))

if (import.meta.main) NodeRuntime.runMain(write.pipe(Effect.provide(NodeServices.layer)))
