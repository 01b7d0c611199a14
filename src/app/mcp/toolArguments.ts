import { Option } from "effect"

/** A JSON Schema, as far as the contract uses it. */
export interface JsonSchema {
  readonly type?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: ReadonlyArray<string>
  readonly [name: string]: unknown
}

/** What a tool takes. */
export interface ToolInput {
  readonly properties: Readonly<Record<string, JsonSchema>>
  readonly required: ReadonlyArray<string>
  /** From a real run; undefined if the endpoint takes nothing. */
  readonly example: Readonly<Record<string, unknown>> | undefined
}

const parsed = (text: string) => Option.liftThrowable((given: string): unknown => JSON.parse(given))(text)

const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value)

const fromText = (text: string, { type }: JsonSchema): unknown => {
  if (type === "integer" || type === "number") return /^-?\d+(?:\.\d+)?$/.test(text.trim()) ? Number(text) : text
  if (type === "boolean") return text === "true" ? true : text === "false" ? false : text
  if (type === "array") {
    return Option.getOrElse(Option.filter(parsed(text), Array.isArray), () => [text])
  }
  return type === "object" ? Option.getOrElse(Option.filter(parsed(text), isObject), () => text) : text
}

/**
 * What an agent meant by a value: models write `"5"` for 5, 250788123456 for a phone number, one text for a list of one,
 * and JSON in a text for an object. Every other value stays as it is, for the endpoint to judge.
 */
export const meantBy = (value: unknown, schema: JsonSchema): unknown => {
  if (typeof value === "string") return fromText(value, schema)
  return typeof value === "number" && schema.type === "string" ? String(value) : value
}

/** A sentence about an argument that the tool does not have. */
export const unknownArgument = (
  { properties, required }: ToolInput,
  given: Readonly<Record<string, unknown>>
): string | undefined => {
  const name = Object.keys(given).find((each) => !Object.hasOwn(properties, each))
  if (name === undefined) return undefined
  const known = Object.keys(properties).map((each) => required.includes(each) ? `${each} (required)` : each)
  return `${name} is no argument of this tool. ${
    known.length === 0 ? "It takes none." : `Its arguments are ${known.join(", ")}.`
  }`
}
