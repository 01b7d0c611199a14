/** Schemas as types of Python: pydantic models of what is received, typed dictionaries of what is sent. */
import { type Contract, type JsonSchema, referenceOf } from "./contract.ts"

const reserved = new Set([
  "False None True and as assert async await break class continue def del elif else except finally for from global if",
  "import in is lambda nonlocal not or pass raise return try while with yield self request_options"
].flatMap((line) => line.split(" ")))

/** Names that a pydantic model has itself. */
const ofModels = new Set("construct copy dict fields from_orm json parse_obj schema validate".split(" "))

/** An argument's name, which cannot be a word of the language. */
export const argument = (name: string): string => {
  const word = name.replaceAll(/\W/g, "_")
  return reserved.has(word) ? `${word}_` : word
}

const attribute = (name: string) => ofModels.has(name) ? `${name}_` : argument(name)

export const pascal = (name: string): string =>
  name.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase())
    .replaceAll("Whatsapp", "WhatsApp")

/** Indents every line by four spaces, but the first. */
export const indented = (text: string): string => text.replaceAll("\n", "\n    ").replaceAll(/^ +$/gm, "")

const plain = (text: string) => text.replaceAll("\\", "\\\\").replaceAll("\"\"\"", "'''").replaceAll(/\s+/g, " ").trim()

/** A docstring with lines of at most 110 characters. */
export const docstring = (text: string | undefined): string => {
  if (text === undefined || text === "") return ""
  const lines = [""]
  for (const word of plain(text).split(" ")) {
    const last = lines.at(-1) ?? ""
    if (last !== "" && last.length + word.length > 100) lines.push(word)
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`
  }
  return lines.length === 1 ? `"""${lines[0]}"""\n` : `"""${lines.join("\n")}\n"""\n`
}

const literal = (value: string | number | boolean) =>
  typeof value === "boolean" ? (value ? "True" : "False") : JSON.stringify(value)

const union = (types: ReadonlyArray<string>): string => {
  const all = [...new Set(types)]
  const [first = "Any"] = all
  if (all.includes("Any")) return "Any"
  if (!all.includes("None")) return all.length === 1 ? first : `Union[${all.join(", ")}]`
  return all.length === 1 ? "None" : `Optional[${union(all.filter((type) => type !== "None"))}]`
}

/** Whether a value may be null. */
export const isNullable = ({ anyOf = [], type }: JsonSchema): boolean =>
  type === "null" || anyOf.some((schema) => isNullable(schema))

/** Collects the classes that the schemas of one module need. */
export class PythonTypes {
  readonly classes = new Map<string, string>()
  readonly #models: Contract["models"]
  readonly #isSent: boolean

  constructor(models: Contract["models"], isSent: boolean) {
    this.#models = models
    this.#isSent = isSent
  }

  /** The type of a schema. A nested object becomes a class of the given name. */
  type(schema: JsonSchema, name: string): string {
    const reference = referenceOf(schema)
    if (reference !== undefined) return this.#component(reference)
    const { anyOf, enum: values, items, oneOf, type } = schema
    const alternatives = anyOf ?? oneOf
    if (values !== undefined) return this.#values(values)
    if (alternatives !== undefined) {
      const objects = alternatives.filter(({ properties }) => properties !== undefined)
      return union(alternatives.map((each) => this.type(each, this.#alternative(each, name, objects.indexOf(each)))))
    }
    if (type === "array") return `${this.#isSent ? "Sequence" : "List"}[${this.type(items ?? {}, `${name}Item`)}]`
    return type === "object" ? this.#object(schema, name) : this.#simple(schema)
  }

  /** Declares a component or an object of the given name, once. */
  declare(name: string, schema: JsonSchema, doc = schema.description): void {
    const { properties = {}, required = [] } = schema
    const types = Object.entries(properties).map(([field, each]) =>
      [field, this.type(each, `${name}${pascal(field)}`), each] as const
    )
    if (this.#isSent && types.some(([field]) => reserved.has(field))) {
      const sent = types.map(([field, type]) => [field, sentType(field, type, required)] as const)
      return void this.classes.set(name, sentByKeys(name, sent))
    }
    const fields = types.map(([field, type, each]) =>
      this.#isSent
        ? `${field}: ${sentType(field, type, required)}\n`
        : receivedField(field, type, required) + docstring(each.description)
    )
    const base = this.#isSent ? "TypedDict" : "Model"
    const body = [docstring(doc), ...fields].join("") || "pass\n"
    this.classes.set(name, `class ${name}(${base}):\n    ${indented(body.trimEnd())}\n`)
  }

  #component(name: string): string {
    const schema = this.#models[name] ?? {}
    if (schema.type !== "object" || schema.properties === undefined) return this.type(schema, name)
    if (!this.classes.has(name)) {
      // Declared first, so that a class that contains itself ends.
      this.classes.set(name, "")
      this.declare(name, schema)
      const text = this.classes.get(name) ?? ""
      this.classes.delete(name)
      this.classes.set(name, text)
    }
    return name
  }

  #values(values: ReadonlyArray<string | number | boolean>) {
    const known = `Literal[${values.map(literal).join(", ")}]`
    // A later service may answer with a value that this version does not know.
    const isOpen = !this.#isSent && values.length > 1 && values.every((value) => typeof value === "string")
    return isOpen ? `Union[${known}, str]` : known
  }

  /** A name for one of several alternatives: its channel if it has one. */
  #alternative({ properties = {} }: JsonSchema, name: string, index: number) {
    const [channel, ...others] = properties["channel"]?.enum ?? []
    return channel === undefined || others.length > 0
      ? `${name}${index < 1 ? "" : index + 1}` :
      `${name}${pascal(String(channel))}`
  }

  #object(schema: JsonSchema, name: string): string {
    const { additionalProperties, properties } = schema
    if (properties === undefined || Object.keys(properties).length === 0) {
      const value = typeof additionalProperties === "object" ? this.type(additionalProperties, `${name}Value`) : "Any"
      return `${this.#isSent ? "Mapping" : "Dict"}[str, ${value}]`
    }
    this.declare(name, schema)
    return name
  }

  #simple({ format, type }: JsonSchema): string {
    if (type === "string" && (format === "date-time" || format === "date")) {
      const moment = format === "date" ? "date" : "datetime"
      return this.#isSent ? `Union[str, ${moment}]` : moment
    }
    const types: Readonly<Record<string, string>> = {
      boolean: "bool",
      integer: "int",
      null: "None",
      number: "float",
      string: "str"
    }
    return types[type ?? ""] ?? "Any"
  }
}

const receivedField = (field: string, type: string, required: ReadonlyArray<string>) => {
  const name = attribute(field)
  const isRequired = required.includes(field)
  const full = isRequired || type.startsWith("Optional") || type === "Any" ? type : `Optional[${type}]`
  const fallback = name !== field
    ? ` = Field(${isRequired ? "..." : "None"}, alias=${JSON.stringify(field)})`
    : isRequired
    ? ""
    : " = None"
  return `${name}: ${full}${fallback}\n`
}

const sentType = (field: string, type: string, required: ReadonlyArray<string>) =>
  required.includes(field) ? type : `NotRequired[${type}]`

/** A dictionary with a key such as `from`, which is no name of Python, needs the other form. */
const sentByKeys = (name: string, fields: ReadonlyArray<readonly [string, string]>) =>
  `${name} = TypedDict(\n    "${name}",\n    {\n${
    fields.map(([field, type]) => `        "${field}": ${type},\n`).join("")
  }    },\n)\n`
