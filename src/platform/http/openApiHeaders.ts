import { isObject, type Json, type JsonObject } from "./openApiTransform.ts"

const text = { type: "string" } as const
const count = { type: "integer", minimum: 0 } as const

/** The headers that answers have by one rule for all endpoints. */
const answerHeaders = {
  Link: {
    description: "Where the first, the previous, the next and the last page are, as far as there are such (RFC 8288).",
    schema: text
  },
  "X-RateLimit-Limit": { description: "How many requests a minute the plan allows.", schema: count },
  "X-RateLimit-Remaining": { description: "How many of them are left in this minute.", schema: count },
  "X-RateLimit-Reset": { description: "When the minute ends, in Unix seconds.", schema: count },
  RateLimit: { description: "What is left and for how many seconds: `\"minute\";r=59;t=42`.", schema: text },
  "RateLimit-Policy": { description: "The limit and its window in seconds: `\"minute\";q=60;w=60`.", schema: text },
  "Retry-After": { description: "In how many seconds to ask again.", schema: count },
  "Idempotency-Replayed": {
    description: "On the stored answer to the first request with the Idempotency-Key.",
    schema: { ...text, enum: ["true"] }
  }
} as const
type Name = keyof typeof answerHeaders

const rateLimits: ReadonlyArray<Name> = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "RateLimit",
  "RateLimit-Policy"
]

const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "A name of your own for the request. Sent again with it within 24 hours, it takes effect once and is answered as at"
    + " first.",
  required: false,
  schema: { ...text, minLength: 1, maxLength: 255, pattern: "^[!-~]+$" }
} as const

const each = (json: Json | undefined, change: (value: JsonObject, key: string) => Json): Json =>
  json !== undefined && isObject(json)
    ? Object.fromEntries(
      Object.entries(json).map(([key, value]) => [key, isObject(value) ? change(value, key) : value])
    )
    : {}

const list = (json: Json | undefined): ReadonlyArray<Json> => Array.isArray(json) ? json : []

/** What an answer of this status has; of one that is refused before its caller is known, nothing is said. */
const namesOf = (
  { isKnown, isPaged, takesKey }: { readonly isKnown: boolean; readonly isPaged: boolean; readonly takesKey: boolean },
  status: string
): ReadonlyArray<Name> => {
  const isSuccess = status.startsWith("2")
  return [
    ...(isSuccess && isPaged ? ["Link" as const] : []),
    ...(isSuccess && takesKey ? ["Idempotency-Replayed" as const] : []),
    ...(isKnown && (isSuccess || status === "429") ? rateLimits : []),
    ...(status === "429" || status === "503" ? ["Retry-After" as const] : [])
  ]
}

const withHeaders = (operation: JsonObject, method: string): JsonObject => {
  const parameters = list(operation["parameters"])
  const isKnown = list(operation["security"]).length > 0
  const takesKey = isKnown && method === "post"
  const isPaged = parameters.some((parameter) => isObject(parameter) && parameter["name"] === "page")
  return {
    ...operation,
    parameters: takesKey ? [...parameters, idempotencyKey] : parameters,
    responses: each(operation["responses"], (response, status) => {
      const names = namesOf({ isKnown, isPaged, takesKey }, status)
      if (names.length === 0) return response
      const headers = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
      return { ...response, headers }
    })
  }
}

/** The document with the headers that no endpoint names for itself, as the rules for all of them give and take them. */
export const openApiHeaders = (document: Json): Json => {
  if (!isObject(document)) return document
  const { components, paths } = document
  return {
    ...document,
    paths: each(paths, (operations) => each(operations, withHeaders)),
    components: { ...(components !== undefined && isObject(components) && components), headers: answerHeaders }
  }
}
