/** A part of the document. */
export type Json = null | boolean | number | string | ReadonlyArray<Json> | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}

export const isObject = (json: Json): json is JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json)

/** The library describes a number in a path or a query by the text it is read from. */
const schemaOf = (json: JsonObject): JsonObject => {
  if (json["type"] !== "string" || json["format"] !== "int64") return json
  const { default: standard, ...rest } = json
  return { ...rest, type: "integer", minimum: 1, ...(standard !== undefined && { default: Number(standard) }) }
}

const mayBeNull = (schema: Json | undefined): boolean =>
  schema !== undefined && isObject(schema) && Array.isArray(schema["anyOf"])
  && schema["anyOf"].some((part: Json) => isObject(part) && part["type"] === "null")

/** A body that may be left out is described by the library as one that has to be there and may be `null`. */
const bodyOf = (json: JsonObject): JsonObject => {
  const { content, required } = json
  const optional = required === true && content !== undefined && isObject(content)
    && Object.values(content).some((type) => isObject(type) && mayBeNull(type["schema"]))
  return optional ? { ...json, required: false } : json
}

/**
 * What the generated document says too strictly or too loosely for clients that are generated from it: requests and
 * answers may have more fields than are named (those of a request are ignored, answers gain some over time), a number
 * in a path or a query is a number, and a body that may be left out is not required.
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
