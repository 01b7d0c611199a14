import { OpenApi } from "effect/http-api"
import { createRequire } from "node:module"
import { Api } from "../../api/Api.ts"
import { openApiDocument } from "../../platform/http/openApi.ts"

/** What one operation gets and answers, from a real run: `test/contract/examples.test.ts` writes and checks it. */
interface Example {
  readonly status: number
  /** Values of its path, by their names. */
  readonly params?: Readonly<Record<string, string | number>>
  readonly body?: unknown
  readonly answer?: unknown
}

const json = "application/json"

const require = createRequire(import.meta.url)

/** Read when the document is needed, because it is large. */
const examples = (): Readonly<Record<string, Example>> => require("./examples.json")

interface Content {
  readonly content?: Readonly<Record<string, object>>
}

const withExample = <C extends Content>(message: C, example: unknown): C =>
  example === undefined || message.content?.[json] === undefined
    ? message
    : { ...message, content: { ...message.content, [json]: { ...message.content[json], example } } }

interface Operation {
  readonly parameters?: ReadonlyArray<{ readonly in: string; readonly name: string }>
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content>>
}

const operationWith = (operation: Operation, { answer, body, params, status }: Example): Operation => ({
  ...operation,
  ...(operation.parameters !== undefined && {
    parameters: operation.parameters.map((parameter) =>
      parameter.in === "path" ? { ...parameter, example: params?.[parameter.name] } : parameter
    )
  }),
  ...(operation.requestBody !== undefined && { requestBody: withExample(operation.requestBody, body) }),
  responses: Object.fromEntries(
    Object.entries(operation.responses).map(([code, response]) => [
      code,
      code === String(status) ? withExample(response, answer) : response
    ])
  )
})

const mapValues = <A>(record: Readonly<Record<string, A>>, change: (value: A, key: string) => A) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]))

/** Adds to each operation its example. */
const withExamples = (document: Record<string, unknown>): Record<string, unknown> => {
  const known = examples()
  // The contract's document has a record of operations for each path.
  const paths = document["paths"] as Readonly<Record<string, Readonly<Record<string, Operation>>>>
  return {
    ...document,
    paths: mapValues(paths, (operations, path) =>
      mapValues(operations, (operation, method) => {
        const example = known[`${method.toUpperCase()} ${path}`]
        return example === undefined ? operation : operationWith(operation, example)
      }))
  }
}

/** The contract, whose OpenAPI document has an example for every operation. */
export const documentedContract = Api.annotate(OpenApi.Transform, (document) => withExamples(openApiDocument(document)))
