/** A part of the OpenAPI document. */
type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject
interface JsonObject {
  readonly [key: string]: Json
}

const isObject = (json: Json): json is JsonObject => typeof json === "object" && json !== null && !Array.isArray(json)

/** The library describes a number in a path or a query as text. */
const schemaOf = (json: JsonObject): JsonObject => {
  if (json["type"] !== "string" || json["format"] !== "int64") return json
  const { default: standard, ...rest } = json
  return { ...rest, type: "integer", minimum: 1, ...(standard !== undefined && { default: Number(standard) }) }
}

const mayBeNull = (schema: Json | undefined): boolean =>
  schema !== undefined && isObject(schema) && Array.isArray(schema["anyOf"])
  && schema["anyOf"].some((part: Json) => isObject(part) && part["type"] === "null")

/** The library describes an optional body as a required body that may be `null`. */
const bodyOf = (json: JsonObject): JsonObject => {
  const { content, required } = json
  const optional = required === true && content !== undefined && isObject(content)
    && Object.values(content).some((type) => isObject(type) && mayBeNull(type["schema"]))
  return optional ? { ...json, required: false } : json
}

/**
 * Corrects the generated document for clients that are generated from it. Requests and answers may have more fields than
 * are named: the service ignores those of a request, and answers gain fields over time. Numbers in a path or a query are
 * numbers, and an optional body is not required.
 */
export const openApiTransform = (json: Json): Json => {
  if (Array.isArray(json)) return json.map(openApiTransform)
  if (!isObject(json)) return json
  return Object.fromEntries(
    Object.entries(bodyOf(schemaOf(json)))
      .filter(([key, value]) => key !== "additionalProperties" || value !== false)
      .map(([key, value]) => [key, openApiTransform(value)])
  )
}

const text = { type: "string" } as const
const count = { type: "integer", minimum: 0 } as const

/** The headers that all endpoints set by the same rule. */
const answerHeaders = {
  Link: {
    description: "Links to the first, previous, next and last page, where they exist (RFC 8288).",
    schema: text
  },
  "X-RateLimit-Limit": { description: "Requests per minute that the plan allows.", schema: count },
  "X-RateLimit-Remaining": { description: "Requests left in this minute.", schema: count },
  "X-RateLimit-Reset": { description: "End of the minute, in Unix seconds.", schema: count },
  RateLimit: { description: "Requests left and seconds until the window ends: `\"minute\";r=59;t=42`.", schema: text },
  "RateLimit-Policy": { description: "The limit and its window in seconds: `\"minute\";q=60;w=60`.", schema: text },
  "Retry-After": { description: "Seconds to wait before the next request.", schema: count },
  "Idempotency-Replayed": {
    description: "`true` when the answer is the stored answer to the first request with this Idempotency-Key.",
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
    "A unique name that you choose for the request. Repeat the request with it within 24 hours and it takes effect once;"
    + " the repetition gets the first answer.",
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

/** The headers of an answer with this status. Answers to unknown callers list none. */
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

/** Adds the headers that all endpoints share to the document. */
export const openApiHeaders = (document: Json): Json => {
  if (!isObject(document)) return document
  const { components, paths } = document
  return {
    ...document,
    paths: each(paths, (operations) => each(operations, withHeaders)),
    components: { ...(components !== undefined && isObject(components) && components), headers: answerHeaders }
  }
}
