import { Duration, Schema } from "effect"
import { eventBody, exampleBody } from "../events/EventData.ts"
import { eventMeanings, type EventName, eventNames, topics } from "../events/EventNames.ts"
import { maxAttempts, nextDelay } from "./delivery/RetryPolicy.ts"
import type { RetryPolicyName } from "./endpoint/Webhook.ts"

type Shape = { readonly type: "string" | "integer" } & Readonly<Record<string, unknown>>

const text = { type: "string" } as const
const digest = { type: "string", pattern: "^[0-9a-f]{64}$" } as const

const header = (name: string, description: string, schema: Shape) => ({
  name,
  in: "header",
  description,
  required: true,
  schema
})

const optionalHeader = (name: string, description: string, schema: Shape) => ({
  ...header(name, description, schema),
  required: false
})

const headersOf = (event: EventName) => [
  header("X-Service-Event", "The event's name, as in the body.", { ...text, enum: [event] }),
  header("X-Service-Signature", "Hex HMAC-SHA256 of the body. The key is the whole secret as it was shown.", digest),
  optionalHeader(
    "X-Service-Signature-Previous",
    "The same with the previous secret, while a rotation overlaps.",
    digest
  ),
  header("X-Service-Event-Id", "The event's id, as in the body: the same in every attempt.", text),
  header("X-Service-Delivery-Id", "The delivery's id in the delivery history.", text),
  header("X-Service-Attempt", "The number of this attempt.", {
    type: "integer",
    minimum: 1,
    maximum: maxAttempts("extended")
  }),
  optionalHeader("X-Service-Test", "Present when the event is a test of the webhook.", { ...text, enum: ["true"] }),
  header("webhook-id", "Standard Webhooks: the event's id.", text),
  header("webhook-timestamp", "Standard Webhooks: when the attempt started, in Unix seconds.", { type: "integer" }),
  header(
    "webhook-signature",
    "Standard Webhooks: `v1,` and the base64 HMAC-SHA256 of id, time and body. The key is the decoded secret. Two of them,"
      + " separated by a space, while a rotation overlaps.",
    text
  )
]

const secondsOf = (policy: RetryPolicyName) =>
  Array.from({ length: maxAttempts(policy) - 1 }, (_, index) => nextDelay(policy, index + 1) ?? Duration.zero)
    .map((delay) => Duration.toSeconds(delay)).join(", ")

const responses = {
  "2XX": { description: "Delivered. The body is ignored." },
  "3XX": { description: "A failed attempt: redirects are not followed." },
  default: {
    description:
      `A failed attempt, as is a timeout. There are up to ${maxAttempts("standard")} attempts, ${
        secondsOf("standard")
      } `
      + `seconds after the end of the previous one; with retry_policy extended up to ${maxAttempts("extended")}, `
      + `${secondsOf("extended")} seconds after it. Then the delivery has failed.`
  }
}

const examplesOf = (event: EventName) =>
  Object.fromEntries(
    topics.filter((topic) => topic.event === event).map((topic) => [
      topic.channel ?? "example",
      { value: exampleBody(topic) }
    ])
  )

const sentence = (half: string) => `${half.charAt(0).toUpperCase()}${half.slice(1)}.`

/** The request that delivers an event, as OpenAPI 3.1 describes it. */
const requestOf = (event: EventName) => ({
  operationId: `webhook.${event}`,
  summary: event,
  description: sentence(eventMeanings[event]),
  security: [],
  parameters: headersOf(event),
  requestBody: {
    required: true,
    content: {
      "application/json": {
        schema: Schema.toJsonSchemaDocument(eventBody(event)).schema,
        examples: examplesOf(event)
      }
    }
  },
  responses
})

/** The `webhooks` of the OpenAPI document: one request for each event. */
export const openApiWebhooks = Object.fromEntries(eventNames.map((event) => [event, { post: requestOf(event) }]))
