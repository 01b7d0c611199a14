/** The generated files of the SDK that the repository keeps, because the command line and the MCP server import them. */
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import { type Contract, type OpenApiDocument, readContract } from "./contract.ts"
import { methodsPage } from "./methodsPage.ts"
import { root, version } from "./sources.ts"
import { typescriptFiles } from "./typescript.ts"

/** The contract in the text of an OpenAPI document. */
export const contractOf = (text: string): Contract => {
  const document: OpenApiDocument = JSON.parse(text)
  return readContract(document)
}

/** The generated files by their path in the repository. */
export const generatedFiles = (text: string): Readonly<Record<string, string>> => {
  const contract = contractOf(text)
  const files = Object.entries(typescriptFiles(contract, version))
  return {
    ...Object.fromEntries(files.map(([name, content]) => [`src/sdk/generated/${name}`, content])),
    "docs/sdk/methods.md": methodsPage(contract)
  }
}

/** Writes the generated files. */
export const writeGenerated = (text: string): void => {
  for (const [path, content] of Object.entries(generatedFiles(text))) {
    NodeFs.mkdirSync(NodePath.dirname(NodePath.join(root, path)), { recursive: true })
    NodeFs.writeFileSync(NodePath.join(root, path), content)
  }
}
