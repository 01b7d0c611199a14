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
  return { minimum: 1, ...rest, type: "integer", ...(standard !== undefined && { default: Number(standard) }) }
}

/** The library bounds a whole number by what JavaScript keeps exactly. Clients need its size. */
const wholeNumberOf = (json: JsonObject): JsonObject => {
  if (json["type"] !== "integer") return json
  const { maximum, minimum, ...rest } = json
  return {
    ...rest,
    format: "int64",
    ...(minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && { minimum }),
    ...(maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && { maximum })
  }
}

/** The library names a schema after its class and its side. Clients see one side only. */
const nameOf = (name: string) => name.replace(/Encoded(\d*)$/, "$1")

/** The library lists a schema twice if two of its sides look alike to clients. */
const choiceOf = (json: JsonObject): JsonObject => {
  const { anyOf, ...rest } = json
  if (!Array.isArray(anyOf)) return json
  const parts = [...new Map(anyOf.map((part: Json) => [JSON.stringify(part), part])).values()]
  const [only] = parts
  return parts.length === 1 && only !== undefined && isObject(only) ? { ...rest, ...only } : { ...rest, anyOf: parts }
}

const referenceOf = (json: JsonObject): JsonObject =>
  typeof json["$ref"] === "string" ? { ...json, $ref: nameOf(json["$ref"]) } : json

const mayBeAbsent = (schema: Json | undefined): boolean => {
  if (schema === undefined || !isObject(schema) || !Array.isArray(schema["anyOf"])) return false
  const names = schema["anyOf"].map((part: Json) => isObject(part) && nameOf(String(part["$ref"])))
  return names.length > 1 && new Set(names).size === 1
}

/** The library describes a body that may be left out as a required body with the same schema twice. */
const bodyOf = (json: JsonObject): JsonObject => {
  const { content, required } = json
  const optional = required === true && content !== undefined && isObject(content)
    && Object.values(content).some((type) => isObject(type) && mayBeAbsent(type["schema"]))
  return optional ? { ...json, required: false } : json
}

/**
 * Corrects the generated document for clients that are generated from it. Requests and answers may have more fields than
 * are named: the service ignores those of a request, and answers gain fields over time. Numbers in a path or a query are
 * numbers, and an optional body is not required.
 */
const corrected = (json: Json): Json => {
  if (Array.isArray(json)) return json.map(corrected)
  if (!isObject(json)) return json
  return choiceOf(Object.fromEntries(
    Object.entries(referenceOf(wholeNumberOf(bodyOf(schemaOf(json)))))
      .filter(([key, value]) => key !== "additionalProperties" || value !== false)
      .map(([key, value]) => [key, corrected(value)])
  ))
}

const text = { type: "string" } as const
const count = { type: "integer", format: "int64", minimum: 0 } as const

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
  "X-Request-Id": { description: "The id of this request, for questions to the operator.", schema: text },
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

/** The headers of an answer with this status. Only a known caller has a rate limit. */
const namesOf = (
  { isKnown, isPaged, takesKey }: { readonly isKnown: boolean; readonly isPaged: boolean; readonly takesKey: boolean },
  status: string
): ReadonlyArray<Name> => {
  const isSuccess = status.startsWith("2")
  return [
    "X-Request-Id",
    ...(isSuccess && isPaged ? ["Link" as const] : []),
    ...(isSuccess && takesKey ? ["Idempotency-Replayed" as const] : []),
    ...(isKnown && /^[24]/.test(status) && status !== "401" ? rateLimits : []),
    ...(status === "429" || status === "503" ? ["Retry-After" as const] : [])
  ]
}

/** The answers of an operation. GET reads no body, so none is too large or of another type. */
const answersOf = ({ responses }: JsonObject, method: string): Json => {
  if (method !== "get" || responses === undefined || !isObject(responses)) return responses ?? {}
  return Object.fromEntries(Object.entries(responses).filter(([status]) => status !== "413" && status !== "415"))
}

const withHeaders = (operation: JsonObject, method: string): JsonObject => {
  const parameters = list(operation["parameters"])
  const isKnown = list(operation["security"]).length > 0
  const takesKey = isKnown && method === "post"
  const isPaged = parameters.some((parameter) => isObject(parameter) && parameter["name"] === "page")
  return {
    ...operation,
    parameters: takesKey ? [...parameters, idempotencyKey] : parameters,
    responses: each(answersOf(operation, method), (response, status) => {
      const names = namesOf({ isKnown, isPaged, takesKey }, status)
      const headers = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
      return { ...response, headers }
    })
  }
}

/** Adds what all endpoints share to the document: headers, the address, and the security scheme. */
const completed = (document: Json): Json => {
  if (!isObject(document)) return document
  const { components, paths } = document
  const { schemas, ...parts } = components !== undefined && isObject(components) ? components : {}
  return {
    ...document,
    // Relative to the address that serves the document.
    servers: [{ url: "/" }],
    paths: each(paths, (operations) => each(operations, withHeaders)),
    components: {
      ...parts,
      schemas: schemas !== undefined && isObject(schemas)
        ? Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [nameOf(name), schema]))
        : {},
      headers: answerHeaders,
      // The registered name of the scheme is in lower case, and some programs know no other.
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "An API key, or the token of a login" }
      }
    }
  }
}

/** The document of the contract, from the library's. */
export const openApiDocument = (document: object): Record<string, Json> =>
  // The library's document is JSON.
  Object(completed(corrected(document as JsonObject)))
