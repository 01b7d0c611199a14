import { Context } from "effect"
import { HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, type Rule } from "../../platform/http/Access.ts"
import type { Principal } from "../../platform/http/Authentication.ts"
import { documentedPath } from "../../platform/http/names/nearRoute.ts"
import type { JsonSchema, ToolInput } from "./toolArguments.ts"
import { type ToolRow, toolTable } from "./toolTable.ts"

/** One tool, ready for every caller that may use it. */
export interface Tool extends ToolRow {
  readonly name: string
  readonly method: "GET" | "POST" | "PUT" | "DELETE"
  /** With the names of its parameters in braces. */
  readonly path: string
  /** The arguments that go into the query. */
  readonly query: ReadonlySet<string>
  /** Whether the arguments that go nowhere else are the body. */
  readonly hasBody: boolean
  readonly input: ToolInput
  readonly rule: Rule | undefined
  readonly listed: object
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: JsonSchema
  readonly example?: unknown
}

/** An operation of the document, as far as tools read it. */
interface Operation {
  readonly description?: string
  readonly parameters?: ReadonlyArray<Parameter>
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: JsonSchema; readonly example?: object }>>
  }
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}

/** Puts the schemas in the place of their names, because a tool stands alone. */
const inlined = (value: unknown, schemas: Document["components"]["schemas"]): unknown => {
  if (Array.isArray(value)) return value.map((each) => inlined(each, schemas))
  if (typeof value !== "object" || value === null) return value
  const reference: unknown = Reflect.get(value, "$ref")
  if (typeof reference === "string") return inlined(schemas[reference.split("/").at(-1) ?? ""], schemas)
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, inlined(each, schemas)]))
}

const idempotencyKey: JsonSchema = {
  type: "string",
  description:
    "A name that you choose for this call. Repeat the call with it within 24 hours, and it takes effect once."
}

const inputOf = (operation: Operation, schemas: Document["components"]["schemas"]) => {
  const parameters = operation.parameters ?? []
  const inUrl = parameters.filter((parameter) => parameter.in !== "header")
  const content = operation.requestBody?.content["application/json"]
  // Every body of the contract is an object; a test calls each tool's example.
  const body = inlined(content?.schema ?? {}, schemas) as JsonSchema
  const isKeyed = parameters.some(({ name }) => name === "Idempotency-Key")
  const examples = inUrl.flatMap(({ example, name }) => example === undefined ? [] : [[name, example] as const])
  const example = { ...Object.fromEntries(examples), ...content?.example }
  const input: ToolInput = {
    properties: {
      ...Object.fromEntries(
        inUrl.map(({ description, name, schema = {} }) => [
          name,
          { ...(description !== undefined && { description }), ...(inlined(schema, schemas) as JsonSchema) }
        ])
      ),
      ...body.properties,
      ...(isKeyed && { idempotency_key: idempotencyKey })
    },
    required: [...inUrl.filter(({ required }) => required).map(({ name }) => name), ...body.required ?? []],
    example: Object.keys(example).length === 0 ? undefined : example
  }
  const query = new Set(inUrl.filter((parameter) => parameter.in === "query").map(({ name }) => name))
  return { input, query, hasBody: content !== undefined }
}

const rulesOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(contract: HttpApi.HttpApi<Id, Groups>) => {
  const rules = new Map<string, Rule | undefined>()
  HttpApi.reflect(contract, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, mergedAnnotations }) => {
      const path = documentedPath(endpoint.path.replace(/\/$/, ""))
      rules.set(`${endpoint.method} ${path}`, Context.getOrUndefined(mergedAnnotations, Access))
    }
  })
  return rules
}

const listedAs = (name: string, row: ToolRow, { description, input, method }: {
  readonly description: string
  readonly input: ToolInput
  readonly method: Tool["method"]
}) => ({
  name,
  title: row.title,
  description: [row.note, description].filter((text) => text !== undefined && text !== "").join(" "),
  inputSchema: {
    type: "object",
    properties: input.properties,
    required: input.required,
    additionalProperties: false,
    ...(input.example !== undefined && { examples: [input.example] })
  },
  annotations: {
    title: row.title,
    readOnlyHint: method === "GET",
    destructiveHint: method === "DELETE" || row.note?.startsWith("SENDS") === true,
    idempotentHint: method !== "POST",
    openWorldHint: row.note?.startsWith("SENDS") === true
  }
})

/** Makes every tool of the table from the contract's document, which has the arguments, and from its access rules. */
export const toolsOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  contract: HttpApi.HttpApi<Id, Groups>
): ReadonlyMap<string, Tool> => {
  // The library's type describes neither examples nor schemas as closely as the document is.
  const document = OpenApi.fromApi(contract) as unknown as Document
  const rules = rulesOf(contract)
  return new Map(
    Object.entries(toolTable).map(([name, row]) => {
      const [verb = "", path = ""] = row.operation.split(" ")
      const method = verb as Tool["method"] // the table's names of operations
      const operation = document.paths[path]?.[verb.toLowerCase()] ?? {}
      const { hasBody, input, query } = inputOf(operation, document.components.schemas)
      const listed = listedAs(name, row, { description: operation.description ?? "", input, method })
      return [name, { ...row, name, method, path, query, hasBody, input, listed, rule: rules.get(row.operation) }]
    })
  )
}

/** Whether a caller may use a tool. The endpoint decides again at each call, also by plan and trial. */
export const isAllowed = ({ rule }: Tool, { mode, permissions, scopes }: Principal["Service"]): boolean => {
  if (rule?.kind !== "account") return rule !== undefined
  const hasScope = scopes.length === 0 || scopes.some((scope) => rule.scopes.includes(scope))
  const hasPermission = rule.permission === undefined || permissions.length === 0 ||
    permissions.includes(rule.permission)
  return hasScope && hasPermission && (rule.mode === undefined || rule.mode === mode)
}
