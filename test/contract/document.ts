import * as OpenApiFile from "../../scripts/openapi.ts"

const document: unknown = JSON.parse(OpenApiFile.text)

/** The value under these keys of a JSON value. */
const at = (value: unknown, ...keys: ReadonlyArray<string>): unknown =>
  keys.reduce<unknown>((found, key) => Object(found)[key], value)

/** A schema with its reference followed. */
const followed = (schema: unknown): unknown => {
  const ref = at(schema, "$ref")
  return typeof ref === "string" ? followed(at(document, ...ref.slice(2).split("/"))) : schema
}

const operation = (method: string, path: string) =>
  at(document, "paths", path.replaceAll(/:(\w+)/g, "{$1}"), method.toLowerCase())

const schemaOf = (message: unknown) => at(message, "content", "application/json", "schema")

const jsonOf = (message: unknown) => followed(schemaOf(message))

/** Whether an endpoint answers 200 with an array as its `data`. */
export const isList = ({ method, path }: { readonly method: string; readonly path: string }) =>
  method === "GET"
  && at(followed(at(jsonOf(at(operation(method, path), "responses", "200")), "properties", "data")), "type") === "array"

/** Names of all fields within a schema. */
const fieldsOf = (schema: unknown, depth = 0): ReadonlyArray<string> => {
  const found = followed(schema)
  if (depth > 8 || typeof found !== "object" || found === null) return []
  const own = Object.keys(Object(at(found, "properties")))
  const within = ["anyOf", "oneOf", "allOf"].flatMap((word) => Object.values(Object(at(found, word))))
  const all = [...within, at(found, "items"), ...Object.values(Object(at(found, "properties")))]
  return [...own, ...all.flatMap((each) => fieldsOf(each, depth + 1))]
}

/** Names of an endpoint's query parameters. */
export const queryOf = ({ method, path }: { readonly method: string; readonly path: string }): ReadonlyArray<string> =>
  Object.values(Object(at(operation(method, path), "parameters")))
    .map(followed)
    .filter((parameter) => at(parameter, "in") === "query")
    .map((parameter) => String(at(parameter, "name")))

/** Names of the fields of an endpoint's body, at any depth. */
export const bodyOf = ({ method, path }: { readonly method: string; readonly path: string }): ReadonlyArray<string> => [
  ...new Set(fieldsOf(jsonOf(at(operation(method, path), "requestBody"))))
]

/** The places of the objects within a schema that have fields and no name. */
const objectsIn = (schema: unknown, place: string): ReadonlyArray<string> => {
  if (schema === undefined || at(schema, "$ref") !== undefined) return []
  const fields = Object.entries(Object(at(schema, "properties"))).map(([name, each]) => [`${place}.${name}`, each])
  const others = ["anyOf", "oneOf", "allOf"].flatMap((word) => Object.values(Object(at(schema, word))))
  const all = [...fields, ...[...others, at(schema, "items")].map((each) => [place, each])]
  return [
    ...(fields.length > 0 ? [place] : []),
    ...all.flatMap(([name, each]) => objectsIn(each, String(name)))
  ]
}

/** The fields around what an answer holds. They have no name of a schema. */
const isEnvelope = (schema: unknown) =>
  Object.keys(Object(at(schema, "properties"))).every((name) => ["success", "data", "meta"].includes(name))

/** The objects without a name in an operation's body and in its answers of success. */
export const unnamedIn = (method: string, path: string): ReadonlyArray<string> => {
  const { requestBody, responses } = Object(operation(method, path))
  const answers = Object.entries(Object(responses)).filter(([status]) => status.startsWith("2"))
  return [
    ...objectsIn(schemaOf(requestBody), "body"),
    ...answers.flatMap(([status, answer]) =>
      objectsIn(schemaOf(answer), status).filter((place) => place !== status || !isEnvelope(schemaOf(answer)))
    )
  ]
}

/** The patterns of all fields with this name in bodies. */
export const patternsOf = (field: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  JSON.stringify(at(document, "components", "schemas"), (name, value) => {
    if (name === field && typeof at(value, "pattern") === "string") found.push(String(at(value, "pattern")))
    return value
  })
  return found
}

/** The names of an interface: fields at any depth with dots between them, words of closed lists, and headers. */
export interface Names {
  readonly paths: ReadonlyArray<string>
  readonly words: ReadonlyArray<string>
  readonly headers: ReadonlyArray<string>
}

const namesWithin = (schema: unknown, path = "", depth = 0): Pick<Names, "paths" | "words"> => {
  const found = followed(schema)
  if (depth > 8 || typeof found !== "object" || found === null) return { paths: [], words: [] }
  const parts = ["anyOf", "oneOf", "allOf"].flatMap((word) => Object.values(Object(at(found, word))))
  const within = [...parts, at(found, "items"), at(found, "additionalProperties")].map((each) => [path, each] as const)
  const fields = Object.entries(Object(at(found, "properties")))
    .map(([name, each]) => [path === "" ? name : `${path}.${name}`, each] as const)
  const all = [...within, ...fields].map(([place, each]) => namesWithin(each, place, depth + 1))
  const words = Object.values(Object(at(found, "enum"))).map(String)
  return {
    paths: [...fields.map(([place]) => place), ...all.flatMap(({ paths }) => paths)],
    words: [...words, ...all.flatMap((each) => each.words)]
  }
}

/** The names of an operation's body. */
export const namesOfBody = ({ method, path }: { readonly method: string; readonly path: string }): Names => ({
  ...namesWithin(schemaOf(at(operation(method, path), "requestBody"))),
  headers: []
})

/** The names of an operation's query, body and answers of success. */
export const namesOf = (endpoint: { readonly method: string; readonly path: string }): Names => {
  const { parameters, requestBody, responses, security } = Object(operation(endpoint.method, endpoint.path))
  const answers = Object.entries(Object(responses)).filter(([status]) => status.startsWith("2"))
  const all = [requestBody, ...answers.map(([, answer]) => answer)].map((message) => namesWithin(schemaOf(message)))
  const inHeader = Object.values(Object(parameters)).map(followed).filter((each) => at(each, "in") === "header")
  return {
    paths: [...queryOf(endpoint), ...all.flatMap(({ paths }) => paths)],
    words: all.flatMap(({ words }) => words),
    headers: [
      ...inHeader.map((each) => String(at(each, "name")).toLowerCase()),
      ...(requestBody === undefined ? [] : ["content-type"]),
      ...(Object.keys(Object(security)).length === 0 ? [] : ["authorization"])
    ]
  }
}

/** The names of all events. */
export const namesOfEvents: Names = (() => {
  const posts = Object.values(Object(at(document, "webhooks"))).map((each) => at(each, "post"))
  const all = posts.map((post) => namesWithin(schemaOf(at(post, "requestBody"))))
  const headers = posts.flatMap((post) => Object.values(Object(at(post, "parameters")))).map(followed)
  return {
    paths: all.flatMap(({ paths }) => paths),
    words: all.flatMap(({ words }) => words),
    headers: headers.map((each) => String(at(each, "name")).toLowerCase())
  }
})()
