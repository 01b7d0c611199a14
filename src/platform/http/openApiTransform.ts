type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }

const isObject = (json: Json): json is { readonly [key: string]: Json } =>
  typeof json === "object" && json !== null && !Array.isArray(json)

/** The library describes a number in a path or a query by the text it is read from. */
const schemaOf = (json: { readonly [key: string]: Json }): { readonly [key: string]: Json } =>
  json["type"] === "string" && json["format"] === "int64" ? { ...json, type: "integer", minimum: 1 } : json

/**
 * What the generated document says too strictly or too loosely for clients that are generated from it: requests and
 * answers may have more fields than are named (those of a request are ignored, answers gain some over time), and a
 * number in a path or a query is a number.
 */
export const openApiTransform = (json: Json): Json => {
  if (Array.isArray(json)) return json.map(openApiTransform)
  if (!isObject(json)) return json
  return Object.fromEntries(
    Object.entries(schemaOf(json))
      .filter(([key, value]) => key !== "additionalProperties" || value !== false)
      .map(([key, value]) => [key, openApiTransform(value)])
  )
}
