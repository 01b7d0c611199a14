import * as NodePath from "node:path"
import { type Expression, fromSrc, isIn, isOutside, type Node, type Rule } from "./rule.ts"
import { contract, everywhere, libraries, open, reach, steps } from "./table.ts"

/** A channel is a folder of its own, so that no channel knows another. */
const folderOf = (path: string): string => {
  const [first = "", second = ""] = path.split("/")
  return first === "channels" ? `${first}/${second}` : first
}

const stepOf = (folder: string): number => steps.findIndex((step) => step.includes(folder))

const faultOfFile = (from: string, to: string): string | undefined => {
  if (isOutside(to)) return `src/${from} may not import ${to.slice("../".length)}: it is outside src`
  const [own, other] = [folderOf(from), folderOf(to)]
  if (contract.files.test(from) && contract.neverFiles.test(to) && !open.includes(to)) {
    return `src/${from} is a contract file and may not import src/${to}`
  }
  if (own === other) return undefined
  if (stepOf(own) <= stepOf(other)) return `src/${own} may not import src/${other}`
  const closed = open.includes(to) ? undefined : reach.find(({ files }) => files.test(to))
  if (closed === undefined || closed.folders.includes(own)) return undefined
  return `src/${to} is for ${[`src/${other}`, ...closed.folders.map((folder) => `src/${folder}`)].join(", ")} only`
}

const faultOfPackage = (from: string, specifier: string): string | undefined => {
  if (contract.files.test(from) && contract.neverPackages.test(specifier)) {
    return `src/${from} is a contract file and may not import ${specifier}`
  }
  if (everywhere.test(specifier)) return undefined
  const library = Object.keys(libraries).find((name) => specifier === name || specifier.startsWith(`${name}/`))
  const places = library === undefined ? undefined : libraries[library]
  if (places === undefined) return `${specifier} has no place in the import table`
  return isIn(from, places) ? undefined : `${specifier} may be imported by ${places.join(", ")} only`
}

/** The text of a specifier; of a template only what stands before its first hole. */
const textOf = (source: Expression): string | undefined =>
  source.type === "Literal" && typeof source.value === "string"
    ? source.value
    : source.type === "TemplateLiteral"
    ? source.quasis[0]?.value.raw
    : undefined

/** Keeps the picture of the table true for every form of import: static, re-exported and dynamic. */
export const boundaries: Rule = {
  create(context) {
    const from = fromSrc(context.filename)
    if (isOutside(from)) return {}
    const check = (node: Node, source: Expression | null) => {
      const specifier = source === null ? undefined : textOf(source)
      if (specifier === undefined) return
      const message = specifier.startsWith(".")
        ? faultOfFile(from, fromSrc(NodePath.resolve(NodePath.dirname(context.filename), specifier)))
        : faultOfPackage(from, specifier)
      if (message !== undefined) context.report({ node, message })
    }
    return {
      Program(node) {
        if (stepOf(folderOf(from)) < 0) {
          context.report({ node, message: `src/${folderOf(from)} is missing from the import table` })
        }
      },
      ImportDeclaration: (node) => check(node, node.source),
      ExportNamedDeclaration: (node) => check(node, node.source),
      ExportAllDeclaration: (node) => check(node, node.source),
      ImportExpression: (node) => check(node, node.source)
    }
  }
}
