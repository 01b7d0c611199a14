import { Schema } from "effect"
import { EventId } from "../values/Ids.ts"
import { Timestamp } from "../values/Timestamp.ts"
import type { Topic } from "./EventAliases.ts"
import { EventData, exampleOf } from "./EventData.ts"
import type { EventName } from "./EventNames.ts"

const id = EventId.annotate({
  description: "identical in every attempt and at every webhook; deduplicate by it"
})
const timestamp = Timestamp.annotate({ description: "when the event happened, not when this attempt was made" })

/** The schema of the body that webhooks receive (spec 6.2), with the id to deduplicate by. */
export const eventBody = (event: EventName) =>
  Schema.Struct({ id, event: Schema.Literal(event), timestamp, data: EventData[event] })

/** The example body of a topic. */
export const exampleBody = (topic: Topic) => ({
  id: "evt_01HZX3T5K8Q2W4Y6B9D1F3H5J7",
  event: topic.event,
  timestamp: "2030-01-31T09:00:00.000000Z",
  data: exampleOf(topic)
})
