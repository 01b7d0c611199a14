import * as NodePath from "node:path"
import { type Expression, fromSrc, isIn, isOutside, type Node, type Rule } from "./rule.ts"
import { contract, everywhere, features, libraries, open, reach, steps } from "./table.ts"

/** A channel is a domain by itself, so that no channel knows another. */
const domainOf = (path: string): string => {
  const [first = "", second = ""] = path.split("/")
  return first === "channels" ? `${first}/${second}` : first
}

const stepOf = (domain: string): number => steps.findIndex((step) => step.includes(domain))

/** The feature folder of a file, or its domain when the file lies in no feature folder. */
const featureOf = (path: string): string => {
  const folder = NodePath.posix.dirname(path)
  return folder === "." ? path : folder
}

const rowOf = (feature: string): number => features.findIndex(([folder]) => folder === feature)

/** Whether a file may be imported from outside its feature folder. */
const isPublic = (to: string): boolean => {
  if (contract.files.test(to)) return true
  const row = features[rowOf(featureOf(to))]
  return row === undefined || row[1] === "all" || row[1].includes(NodePath.posix.basename(to, ".ts"))
}

const faultBetweenFeatures = (from: string, to: string): string | undefined => {
  const [own, other] = [featureOf(from), featureOf(to)]
  if (own === other) return undefined
  const isSameDomain = domainOf(from) === domainOf(to)
  // A domain's own files stand above its feature folders.
  if (isSameDomain && own !== domainOf(from) && (other === domainOf(from) || rowOf(own) <= rowOf(other))) {
    return `src/${own} may not import src/${other}`
  }
  // The layer of a domain mounts what its feature folders keep private. It may stand beside the handlers.
  if (isPublic(to) || (isSameDomain && /(Layer|Http)\.ts$/.test(from) && own === domainOf(from))) return undefined
  return `src/${to} is private to src/${other}`
}

const faultOfFile = (from: string, to: string): string | undefined => {
  if (to === "../package.json") return undefined
  if (isOutside(to)) return `src/${from} may not import ${to.slice("../".length)}: it is outside src`
  const [own, other] = [domainOf(from), domainOf(to)]
  if (contract.files.test(from) && contract.neverFiles.test(to) && !open.includes(to)) {
    return `src/${from} is a contract file and may not import src/${to}`
  }
  if (own !== other && stepOf(own) <= stepOf(other)) return `src/${own} may not import src/${other}`
  const fault = faultBetweenFeatures(from, to)
  if (fault !== undefined || own === other) return fault
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
        if (stepOf(domainOf(from)) < 0 || (featureOf(from) !== domainOf(from) && rowOf(featureOf(from)) < 0)) {
          context.report({ node, message: `src/${featureOf(from)} is missing from the import table` })
        }
      },
      ImportDeclaration: (node) => check(node, node.source),
      ExportNamedDeclaration: (node) => check(node, node.source),
      ExportAllDeclaration: (node) => check(node, node.source),
      ImportExpression: (node) => check(node, node.source)
    }
  }
}
