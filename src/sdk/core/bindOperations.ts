import type { Call, RequestOptions, Transport } from "./Transport.ts"

/**
 * Operations by name, and resources with operations inside. An operation is its method, its path, the kind of its answer,
 * and what it takes besides the parameters of its path: a body, a query, an idempotency key.
 */
export interface OperationTable {
  readonly [name: string]: string | OperationTable
}

const kinds = ["data", "json", "list", "none", "blob"] as const

/** The method of a row. It takes the parameters of the path, then the body, the query, and the options. */
const methodOf = (row: string, transport: Transport) => {
  const [method = "", path = "", answer, ...takes] = row.split(" ")
  const kind = kinds.find((each) => each === answer) ?? "json"
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name)
  return (...values: ReadonlyArray<unknown>) => {
    const rest = values.slice(names.length)
    const call: Call = {
      method,
      path,
      at: Object.fromEntries(names.map((name, index) => [name, values[index]])),
      // An absent body stands for one without fields.
      body: takes.includes("body") ? rest.shift() ?? {} : undefined,
      query: takes.includes("query") ? Object(rest.shift() ?? {}) : undefined,
      keyed: takes.includes("key"),
      options: rest[0] as RequestOptions | undefined // the generated interface says so
    }
    return transport[kind](call)
  }
}

/** The resources of a table with their methods. */
export const bindOperations = (table: OperationTable, transport: Transport): object =>
  Object.fromEntries(
    Object.entries(table).map(([name, row]) => [
      name,
      typeof row === "string" ? methodOf(row, transport) : bindOperations(row, transport)
    ])
  )
