/** The contract as the generators of the SDKs read it: the operations of docs/openapi.json, placed and classified. */
import { aliases, groups, places, verbs } from "./names.ts"

/** What the document uses of JSON Schema. */
export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: ReadonlyArray<string | number | boolean>
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: ReadonlyArray<string>
  readonly items?: JsonSchema
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly oneOf?: ReadonlyArray<JsonSchema>
  readonly allOf?: ReadonlyArray<JsonSchema>
  readonly additionalProperties?: boolean | JsonSchema
  readonly description?: string
  readonly format?: string
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: JsonSchema
}

interface DocumentOperation {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly parameters?: ReadonlyArray<Parameter>
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content>>
}

type Paths = Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>

/** An OpenAPI document. */
export interface OpenApiDocument {
  readonly info: { readonly version: string }
  readonly paths: Paths
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
  readonly webhooks: Paths
}

/** What a successful answer holds: its `data`, a page of rows, its whole body, bytes, or nothing. */
export type Result =
  | { readonly kind: "data" | "list" | "json"; readonly schema: JsonSchema }
  | { readonly kind: "blob" | "none" }

/** One operation and its place in the SDKs. */
export interface Operation {
  readonly id: string
  /** The resources that lead to it, such as `["email", "batches"]`. */
  readonly resource: ReadonlyArray<string>
  /** Its method, such as `cancel`. */
  readonly name: string
  readonly method: string
  readonly path: string
  readonly doc: string
  readonly pathParameters: ReadonlyArray<Parameter>
  readonly query: ReadonlyArray<Parameter>
  readonly body: JsonSchema | undefined
  /** Whether it takes an `Idempotency-Key`. */
  readonly keyed: boolean
  readonly result: Result
}

/** An error of the contract. */
export interface ContractError {
  /** The component's name. */
  readonly name: string
  readonly type: string
  readonly status: number
  readonly description: string | undefined
  /** Its fields besides those of every error. */
  readonly facts: JsonSchema
}

/** An event that webhooks send. */
export interface ContractEvent {
  readonly name: string
  readonly description: string
  readonly data: JsonSchema
}

/** Everything that the generators read. */
export interface Contract {
  readonly operations: ReadonlyArray<Operation>
  /** The components that operations use, by name. */
  readonly models: Readonly<Record<string, JsonSchema>>
  /** Names of the components that only answers use. */
  readonly answers: ReadonlySet<string>
  readonly errors: ReadonlyArray<ContractError>
  readonly events: ReadonlyArray<ContractEvent>
}

/** The component that a reference names. */
export const referenceOf = ({ $ref }: JsonSchema): string | undefined => $ref?.split("/").at(-1)

const placeOf = (id: string): ReadonlyArray<string> => {
  const [group = "", name = ""] = id.split(".")
  return (places[id] ?? `${groups[group] ?? group}.${verbs[name] ?? name}`).split(".")
}

const isNoContent = (schema: JsonSchema) => schema.properties?.["data"]?.type === "null"

/** Components of a schema, also those behind its references. */
const referencesOf = (schema: JsonSchema, components: OpenApiDocument["components"]["schemas"]): Set<string> => {
  const found = new Set<string>()
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return
    const name = "$ref" in value && typeof value.$ref === "string" ? value.$ref.split("/").at(-1) : undefined
    if (name !== undefined && !found.has(name)) {
      found.add(name)
      visit(components[name])
    }
    for (const each of Object.values(value)) visit(each)
  }
  visit(schema)
  return found
}

const jsonOf = (content: Content | undefined) => content?.content?.["application/json"]?.schema

const success = ({ responses }: DocumentOperation) =>
  Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1]

const resultOf = (operation: DocumentOperation, components: OpenApiDocument["components"]["schemas"]): Result => {
  const answer = success(operation)
  const schema = jsonOf(answer)
  if (schema === undefined) return { kind: answer?.content === undefined ? "none" : "blob" }
  const body = components[referenceOf(schema) ?? ""] ?? schema
  if (isNoContent(body)) return { kind: "none" }
  const { data, meta } = body.properties ?? {}
  if (data?.items !== undefined && meta !== undefined) return { kind: "list", schema: data.items }
  const isWrapped = data !== undefined
    && Object.keys(body.properties ?? {}).every((name) => ["success", "data"].includes(name))
  return isWrapped ? { kind: "data", schema: data } : { kind: "json", schema }
}

const requestSchemas = ({ body, pathParameters, query }: Operation) => [
  ...(body === undefined ? [] : [body]),
  ...[...pathParameters, ...query].map(({ schema }) => schema)
]

const operationsOf = ({ components, paths }: OpenApiDocument): ReadonlyArray<Operation> =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const { description, operationId: id, parameters = [], summary } = operation
      if (aliases[id] !== undefined) return []
      const place = placeOf(id)
      return [{
        id,
        resource: place.slice(0, -1),
        name: place.at(-1) ?? "",
        method: method.toUpperCase(),
        path,
        doc: [summary, description].filter((text) => text !== undefined && text !== "").join(". ").replaceAll(
          "..",
          "."
        ),
        pathParameters: parameters.filter((parameter) => parameter.in === "path"),
        query: parameters.filter((parameter) => parameter.in === "query"),
        body: jsonOf(operation.requestBody),
        keyed: parameters.some(({ name }) => name === "Idempotency-Key"),
        result: resultOf(operation, components.schemas)
      }]
    })
  )

const errorsOf = ({ components, paths }: OpenApiDocument): ReadonlyArray<ContractError> => {
  const answers = Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ responses }) => Object.entries(responses))
  )
  const common = ["type", "code", "message", "doc_url", "param", "errors", "retry_after", "status"]
  return Object.entries(components.schemas).flatMap(([name, { description, properties = {} }]) => {
    const { enum: types, ...error } = properties["error"]?.properties?.["type"] ?? {}
    const answer = answers.find(([, content]) => referencesOf(jsonOf(content) ?? {}, {}).has(name))
    if (types === undefined || answer === undefined) return []
    const fields = properties["error"] ?? {}
    return [{
      name,
      type: String(types[0]),
      status: Number(answer[0]),
      description: description ?? error.description,
      facts: {
        ...fields,
        properties: Object.fromEntries(
          Object.entries(fields.properties ?? {}).filter(([field]) => !common.includes(field))
        )
      }
    }]
  })
}

const eventsOf = ({ webhooks }: OpenApiDocument): ReadonlyArray<ContractEvent> =>
  Object.entries(webhooks).flatMap(([name, methods]) =>
    Object.values(methods).map((operation) => ({
      name,
      description: operation.description ?? "",
      data: jsonOf(operation.requestBody)?.properties?.["data"] ?? {}
    }))
  )

const assertPlaces = (operations: ReadonlyArray<Operation>) => {
  const taken = new Map<string, string>()
  for (const { id, name, resource } of operations) {
    const place = [...resource, name].join(".")
    const other = taken.get(place)
    if (other !== undefined) throw new Error(`${id} and ${other} are both ${place}. Add a row to scripts/sdk/names.ts.`)
    taken.set(place, id)
  }
  for (const { resource } of operations) {
    const id = taken.get(resource.join("."))
    if (id !== undefined) throw new Error(`${id} is where a resource is. Add a row to scripts/sdk/names.ts.`)
  }
}

/** Reads the contract out of the OpenAPI document. */
export const readContract = (document: OpenApiDocument): Contract => {
  const { schemas } = document.components
  const operations = operationsOf(document)
  assertPlaces(operations)
  const reached = (of: ReadonlyArray<JsonSchema>) => new Set(of.flatMap((schema) => [...referencesOf(schema, schemas)]))
  const requests = reached(operations.flatMap(requestSchemas))
  const answers = reached([
    ...operations.flatMap(({ result }) => "schema" in result ? [result.schema] : []),
    ...eventsOf(document).map(({ data }) => data)
  ])
  return {
    operations,
    models: Object.fromEntries(
      Object.entries(schemas)
        .filter(([name]) => requests.has(name) || answers.has(name))
        .toSorted(([a], [b]) => a < b ? -1 : 1)
    ),
    answers: new Set([...answers].filter((name) => !requests.has(name))),
    errors: errorsOf(document).toSorted((a, b) => a.type < b.type ? -1 : 1),
    events: eventsOf(document)
  }
}

/** The resources that have operations or lead to others, each before those inside it. */
export const resourcesOf = ({ operations }: Contract): ReadonlyArray<ReadonlyArray<string>> => {
  const paths = new Set(
    operations.flatMap(({ resource }) => resource.map((_, end) => resource.slice(0, end + 1).join(".")))
  )
  return [...paths].toSorted().map((path) => path.split("."))
}

/** The operations of one resource, and the names of the resources inside it. */
export const partsOf = (resource: ReadonlyArray<string>, contract: Contract) => ({
  inside: resourcesOf(contract).filter((other) =>
    other.length === resource.length + 1 && resource.every((name, index) => other[index] === name)
  ),
  operations: contract.operations.filter((operation) => operation.resource.join(".") === resource.join("."))
})
