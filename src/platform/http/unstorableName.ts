import { Option, Schema } from "effect"
import { pathOf } from "./violations.ts"

/** How such a character is written in JSON; a plain one cannot be in a body that is valid UTF-8 and valid JSON. */
const suspicious = /\\u(?:0000|d[89a-f][\da-f]{2})/i

const isStorable = (name: string) => name.isWellFormed() && !name.includes("\0")

const find = (value: unknown, path: ReadonlyArray<PropertyKey>): ReadonlyArray<PropertyKey> | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  const names = Array.isArray(value) ? value.keys() : Object.keys(value)
  for (const name of names) {
    if (typeof name === "string" && !isStorable(name)) return path
    const found = find(Reflect.get(value, name), [...path, name])
    if (found !== undefined) return found
  }
  return undefined
}

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

/**
 * Where in a JSON text an object has a name with a NUL character or a lone surrogate, which PostgreSQL stores neither as
 * text nor in jsonb. Values are the business of the schemas, names of a record are not.
 */
export const unstorableName = (text: string): string | undefined => {
  if (!suspicious.test(text)) return undefined
  const path = find(Option.getOrUndefined(decode(text)), [])
  return path === undefined ? undefined : pathOf(path)
}
