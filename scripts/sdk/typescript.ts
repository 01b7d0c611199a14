/** Writes the generated part of the TypeScript SDK. */
import { type Contract, type JsonSchema, type Operation, partsOf, referenceOf, resourcesOf } from "./contract.ts"
import { errorClassOf, familyOf } from "./families.ts"

const head = "// Generated from docs/openapi.json by `node scripts/openapi.ts`. Do not edit.\n"

const pascal = (name: string) =>
  name.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase())
    .replaceAll("Whatsapp", "WhatsApp")
const camel = (name: string) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

const indented = (text: string) => text.replaceAll("\n", "\n  ")

const docOf = (text: string | undefined): string => {
  if (text === undefined || text === "") return ""
  const lines = [""]
  for (const word of text.replaceAll("*/", "* /").split(/\s+/)) {
    const last = lines.at(-1) ?? ""
    if (last !== "" && last.length + word.length > 110) lines.push(word)
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`
  }
  return lines.length === 1 ? `/** ${lines[0]} */\n` : `/**\n${lines.map((line) => ` * ${line}\n`).join("")} */\n`
}

const keyOf = (name: string) => /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name)

/** Whether a schema is sent. A value that is sent may be given as undefined, which JSON leaves out. */
type Direction = "sent" | "received"

const membersOf = ({ properties = {}, required = [] }: JsonSchema, direction: Direction): string =>
  Object.entries(properties).map(([name, schema]) => {
    const isOptional = !required.includes(name)
    const type = typeOf(schema, direction)
    const undefinable = isOptional && direction === "sent" ? `${type} | undefined` : type
    return `${docOf(schema.description)}readonly ${keyOf(name)}${isOptional ? "?" : ""}: ${undefinable}\n`
  }).join("")

const objectOf = (schema: JsonSchema, direction: Direction): string => {
  const members = membersOf(schema, direction)
  const { additionalProperties } = schema
  const rest = typeof additionalProperties === "object"
    ? `{ readonly [name: string]: ${typeOf(additionalProperties, direction)} }`
    : "{ readonly [name: string]: unknown }"
  return members === "" ? rest : `{\n  ${indented(members.trimEnd())}\n}`
}

/** An object without the properties that each alternative of a part describes more closely. */
const withoutAlternatives = ({ allOf = [], properties = {}, ...schema }: JsonSchema): JsonSchema => {
  const isDescribed = (name: string) =>
    allOf.some(({ anyOf }) => anyOf?.every(({ properties = {} }) => name in properties))
  return {
    ...schema,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !isDescribed(name)))
  }
}

const unionOf = (schemas: ReadonlyArray<JsonSchema>, direction: Direction) =>
  [...new Set(schemas.map((schema) => typeOf(schema, direction)))].join(" | ")

/** A schema as a type. */
const typeOf = (schema: JsonSchema, direction: Direction): string => {
  const reference = referenceOf(schema)
  if (reference !== undefined) return reference
  const { allOf, anyOf, enum: values, items, oneOf, type } = schema
  if (values !== undefined) return values.map((value) => JSON.stringify(value)).join(" | ")
  const alternatives = anyOf ?? oneOf
  if (alternatives !== undefined) return unionOf(alternatives, direction)
  if (type === "array") return `ReadonlyArray<${typeOf(items ?? {}, direction)}>`
  if (type === "integer" || type === "number") return "number"
  if (type === "object") {
    const parts = (allOf ?? []).map((each) =>
      each.anyOf === undefined ? typeOf(each, direction) : `(${typeOf(each, direction)})`
    )
    return [...new Set([objectOf(withoutAlternatives(schema), direction), ...parts])].join(" & ")
  }
  return type === undefined ? "unknown" : type
}

const declared = (name: string, schema: JsonSchema, direction: Direction) => {
  const type = typeOf(schema, direction)
  return type.startsWith("{\n") && type.endsWith("\n}") && !type.includes("\n} ")
    ? `${docOf(schema.description)}export interface ${name} ${type}\n`
    : `${docOf(schema.description)}export type ${name} = ${type}\n`
}

const models = ({ answers, models }: Contract) =>
  `${head}\n${
    Object.entries(models)
      .map(([name, schema]) => declared(name, schema, answers.has(name) ? "received" : "sent"))
      .join("\n")
  }`

const resourceOf = (resource: ReadonlyArray<string>) => `${resource.map(pascal).join("")}Resource`
const paramsOf = ({ name, resource }: Operation) => `${[...resource, name].map(pascal).join("")}Params`

const querySchema = ({ query }: Operation): JsonSchema => ({
  type: "object",
  properties: Object.fromEntries(query.map(({ description, name, schema }) => [name, {
    ...schema,
    ...(description !== undefined && { description })
  }])),
  required: query.filter(({ required }) => required === true).map(({ name }) => name)
})

const pathParameterType = (schema: JsonSchema) => {
  const type = typeOf(schema, "sent")
  return /\bnumber\b/.test(type) ? "number | string" : "string"
}

/** Whether what is created has a default for every field, so that the body may be left out. */
const isOptional = ({ body: schema = {}, method }: Operation, { models }: Contract): boolean => {
  if (method !== "POST") return false
  const target = models[referenceOf(schema) ?? ""] ?? schema
  return target.type === "object" && (target.required ?? []).length === 0
}

const method = (operation: Operation, contract: Contract): string => {
  const { body, doc, name, pathParameters, query, result } = operation
  const parameters = [
    ...pathParameters.map(({ name, schema }) => `${camel(name)}: ${pathParameterType(schema)}`),
    ...(body === undefined ? [] : [`body${isOptional(operation, contract) ? "?" : ""}: ${typeOf(body, "sent")}`]),
    ...(query.length === 0
      ? []
      : [`query${query.some(({ required }) => required) ? "" : "?"}: ${paramsOf(operation)}`]),
    "options?: RequestOptions"
  ]
  const type = "schema" in result ? typeOf(result.schema, "received") : ""
  const returned = {
    data: `Promise<${type}>`,
    json: `Promise<${type}>`,
    list: `List<${type}>`,
    none: "Promise<void>",
    blob: "Promise<Blob>"
  }[result.kind]
  return `${docOf(doc)}${name}(${parameters.join(", ")}): ${returned}\n`
}

const resourceInterface = (resource: ReadonlyArray<string>, contract: Contract) => {
  const { inside, operations } = partsOf(resource, contract)
  const members = [
    inside.map((other) => `readonly ${other.at(-1)}: ${resourceOf(other)}\n`).join(""),
    ...operations.map((operation) => method(operation, contract))
  ].filter((member) => member !== "")
  const isRoot = resource.length === 0
  const doc = isRoot ? "/** All resources of the API. */\n" : `/** Operations at \`client.${resource.join(".")}\`. */\n`
  const name = isRoot ? "Resources" : resourceOf(resource)
  return `${doc}export interface ${name} {\n  ${indented(members.join("\n").trimEnd()).replaceAll(/^ +$/gm, "")}\n}\n`
}

/** The row that `core/bindOperations.ts` reads. */
const rowOf = ({ body, keyed, method, path, query, result }: Operation) =>
  [
    method,
    path,
    result.kind,
    ...(body === undefined ? [] : ["body"]),
    ...(query.length === 0 ? [] : ["query"]),
    ...(keyed ? ["key"] : [])
  ].join(" ")

const tableOf = (resource: ReadonlyArray<string>, contract: Contract): string => {
  const { inside, operations } = partsOf(resource, contract)
  const rows = [
    ...operations.map((operation) => `${operation.name}: ${JSON.stringify(rowOf(operation))}`),
    ...inside.map((other) => `${other.at(-1)}: ${tableOf(other, contract)}`)
  ]
  return `{\n  ${indented(rows.join(",\n"))}\n}`
}

const resources = (contract: Contract, version: string) => {
  const interfaces = [[], ...resourcesOf(contract)].map((resource) => resourceInterface(resource, contract))
  const params = contract.operations.filter(({ query }) => query.length > 0).map((operation) =>
    declared(paramsOf(operation), querySchema(operation), "sent")
  )
  const text = [...interfaces, ...params].join("\n")
  const used = Object.keys(contract.models).filter((name) => new RegExp(`\\b${name}\\b`).test(text))
  return [
    head,
    `import type { OperationTable } from "../core/bindOperations.ts"\n`,
    `import type { List } from "../core/Page.ts"\n`,
    `import type { RequestOptions } from "../core/Transport.ts"\n`,
    `import type {\n${used.map((name) => `  ${name}`).join(",\n")}\n} from "./models.ts"\n`,
    `\n/** The version of this package. */\nexport const version = ${JSON.stringify(version)}\n\n`,
    text,
    `\n/** Every operation at its place. */\nexport const operations: OperationTable = ${tableOf([], contract)}\n`
  ].join("")
}

const errors = ({ errors }: Contract) => {
  const own = errors.filter(({ name, status }) => errorClassOf(name) !== familyOf(status))
  const classes = own.map(({ facts, name, status, type }) => {
    const fields = membersOf({ ...facts, properties: { type: { enum: [type] }, ...facts.properties } }, "received")
    return `/** ${status} \`${type}\`. */\nexport class ${errorClassOf(name)} extends ${familyOf(status)} {\n  ${
      indented(fields.trimEnd().replaceAll(/^readonly /gm, "declare $&"))
    }\n}\n`
  })
  const used = [...new Set(errors.map(({ status }) => familyOf(status)))].toSorted()
  const entries = errors.map(({ name, type }) => `  ${type}: ${errorClassOf(name)}`)
  return [
    head,
    `import { type ApiErrorClass, ${used.join(", ")} } from "../core/ApiError.ts"\n`,
    classes.join("\n"),
    `/** The types of errors that this version knows. */\nexport type ErrorType =\n${
      errors.map(({ type }) => `  | ${JSON.stringify(type)}`).join("\n")
    }\n`,
    `/** The class of each type. */\nexport const errorClasses: { readonly [type: string]: ApiErrorClass } = {\n${
      entries.join(",\n")
    }\n}\n`
  ].join("\n")
}

const events = ({ events }: Contract) => {
  const name = (event: string) => `${pascal(event)}Event`
  const interfaces = events.map(({ data, description, name: event }) =>
    `${docOf(description)}export interface ${name(event)} extends EventEnvelope {\n  readonly event: ${
      JSON.stringify(event)
    }\n  readonly data: ${indented(typeOf(data, "received"))}\n}\n`
  )
  return [
    head,
    `/** What every event has. */
export interface EventEnvelope {
  /** Identical in every attempt and at every webhook: deduplicate by it. */
  readonly id: string
  /** \`test\` for what a test key has caused. */
  readonly mode: "live" | "test"
  /** When the event happened. */
  readonly timestamp: string
}\n`,
    ...interfaces,
    `/** Any event. \`event\` tells which. */\nexport type WebhookEvent =\n${
      events.map(({ name: event }) => `  | ${name(event)}`).join("\n")
    }\n`
  ].join("\n")
}

/** The generated files by their path below `src/sdk/generated`. */
export const typescriptFiles = (contract: Contract, version: string): Readonly<Record<string, string>> => ({
  "errors.ts": errors(contract),
  "events.ts": events(contract),
  "models.ts": models(contract),
  "resources.ts": resources(contract, version)
})
