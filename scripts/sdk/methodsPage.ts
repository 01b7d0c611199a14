import type { Contract, Operation } from "./contract.ts"
import { aliases } from "./names.ts"
import { snake } from "./python.ts"

const row = ({ method, name, path, resource }: Operation) => {
  const place = [...resource, name]
  return `| \`${method} ${path}\` | \`${place.join(".")}\` | \`${place.map(snake).join(".")}\` |`
}

/** The page that lists the method of every endpoint. */
export const methodsPage = ({ operations }: Contract): string =>
  `# Methods of the SDKs

Generated from the contract by \`node scripts/openapi.ts\`. Each endpoint has one method, at \`client.\` and the name in the
table, in [TypeScript](typescript.md) and in [Python](python.md). Parameters are those of the endpoint, with the same names.

| Endpoint | TypeScript | Python |
|---|---|---|
${operations.toSorted((a, b) => a.path < b.path ? -1 : a.path > b.path ? 1 : 0).map(row).join("\n")}

Left out are second addresses of the same operation: ${
    Object.entries(aliases).map(([id, method]) => `\`${id}\` is \`${method}\``).join(", ")
  }.
`
