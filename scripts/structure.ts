/**
 * Prints figures of how easy the code is to enter, and fails when one passes its limit. Code lines leave out blank lines
 * and comments. Run it by `npm run structure`.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Array, Console, Effect } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import { rejectedPhrases } from "./lint/phrases.ts"

const root = NodePath.resolve(import.meta.dirname, "..")

const read = (file: string) => NodeFs.readFileSync(NodePath.join(root, file), "utf8")

/** The files that git knows or would add, so that build results do not count. */
const filesIn = (...paths: ReadonlyArray<string>): ReadonlyArray<string> =>
  NodeChildProcess.execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", ...paths], {
    cwd: root,
    encoding: "utf8"
  }).split("\n").filter((file) => file !== "" && NodeFs.existsSync(NodePath.join(root, file)))

const codeLines = (text: string) => text.split("\n").filter((line) => !/^\s*($|\/\/|\*|\/\*)/.test(line)).length

/** Generated files are not written by hand, so they are not measured. */
const isWritten = (file: string) => file.endsWith(".ts") && !file.startsWith("src/sdk/generated/")

/** The texts of the console in other languages: as many lines as the English ones have. */
const isTranslation = (file: string) => /^src\/console\/language\/(?!en\/)[a-z]+\//.test(file)

const src = filesIn("src").filter(isWritten).map((file) => {
  const text = read(file)
  // Static, dynamic, type-only and re-exporting imports of other files.
  const imports = [...text.matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)].map(([, specifier = ""]) =>
    NodePath.join(NodePath.dirname(file), specifier)
  )
  return { file, imports, lines: codeLines(text), text }
})

/** The groups of nodes that reach each other (Tarjan's algorithm). */
const cyclesIn = (edges: ReadonlyMap<string, ReadonlySet<string>>): ReadonlyArray<ReadonlyArray<string>> => {
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: Array<string> = []
  const cycles: Array<ReadonlyArray<string>> = []
  const lower = (node: string, to = Infinity) => low.set(node, Math.min(low.get(node) ?? to, to))
  const visit = (node: string) => {
    lower(node, index.size)
    index.set(node, index.size)
    stack.push(node)
    for (const next of edges.get(node) ?? []) {
      if (!index.has(next)) visit(next)
      if (stack.includes(next)) lower(node, low.get(next))
    }
    if (low.get(node) !== index.get(node)) return
    const cycle = stack.splice(stack.indexOf(node))
    if (cycle.length > 1) cycles.push(cycle)
  }
  for (const node of edges.keys()) {
    if (!index.has(node)) visit(node)
  }
  return cycles
}

/** The import cycles between files, or between the groups that `groupOf` makes of them. */
const importCycles = (groupOf: (file: string) => string) => {
  const edges = new Map(src.map(({ file }) => [groupOf(file), new Set<string>()]))
  for (const { file, imports } of src) {
    for (const target of imports) edges.get(groupOf(file))?.add(groupOf(target))
  }
  return cyclesIn(edges).map((cycle) => cycle.join(", "))
}

const phrases = () =>
  filesIn("src", "test", "scripts", "docs", "*.md")
    .filter((file) =>
      /\.(ts|md|json)$/.test(file) && !/^(scripts\/lint\/phrases|test\/tooling\/|docs\/glossary)/.test(file)
    )
    .flatMap((file) => rejectedPhrases(read(file)).map((found) => `${file}: ${found}`))

interface Figure {
  readonly what: string
  readonly value: number
  readonly limit?: { readonly atMost: number } | { readonly atLeast: number }
  /** The places to look at when the limit is passed. */
  readonly places?: ReadonlyArray<string>
}

/** A figure that counts places, which is printed with them when there are too many. */
const counted = (what: string, places: ReadonlyArray<string>, atMost: number): Figure => ({
  what,
  value: places.length,
  limit: { atMost },
  places
})

const figures = (): ReadonlyArray<Figure> => {
  const lines = src.map(({ lines }) => lines)
  const ofCode = src.filter(({ file }) => !isTranslation(file)).map(({ lines }) => lines).toSorted((a, b) => a - b)
  const folders = Object.entries(Array.groupBy(src, ({ file }) => NodePath.dirname(file)))
  const withLines = (isFound: (lines: number) => boolean) =>
    src.filter(({ lines }) => isFound(lines)).map(({ file, lines }) => `${lines} ${file}`)
  return [
    counted(
      "folders of more than 25 files",
      folders.filter(([, files]) => files.length > 25).map(([folder, files]) => `${files.length} ${folder}`),
      0
    ),
    counted("files of more than 300 code lines", withLines((lines) => lines > 300), 0),
    counted("files of less than 15 code lines", withLines((lines) => lines < 15), 30),
    { what: "median code lines of a file", value: ofCode[Math.floor(ofCode.length / 2)] ?? 0, limit: { atLeast: 55 } },
    counted("files named make*.ts", src.map(({ file }) => file).filter((file) => /\/make[A-Z]\w*\.ts$/.test(file)), 0),
    counted("rejected phrases in code and documents", phrases(), 0),
    counted("import cycles between files", importCycles((file) => file), 0),
    counted("import cycles between folders", importCycles(NodePath.dirname), 0),
    counted(
      "uses of Effect.orDie",
      src.flatMap(({ file, text }) => (text.match(/\bEffect\.orDie\b/g) ?? []).map(() => file)),
      60
    ),
    { what: "code lines", value: lines.reduce((sum, count) => sum + count, 0) },
    { what: "files", value: src.length }
  ]
}

const isMissed = ({ limit, value }: Figure) =>
  limit !== undefined && ("atMost" in limit ? value > limit.atMost : value < limit.atLeast)

const row = (figure: Figure) => {
  const { limit, value, what } = figure
  const bound = limit === undefined ? "" : "atMost" in limit ? `at most ${limit.atMost}` : `at least ${limit.atLeast}`
  return `${what.padEnd(40)}${String(value).padStart(6)}  ${bound.padEnd(16)}${isMissed(figure) ? "MISSED" : ""}`
    .trimEnd()
}

const print = Effect.gen(function*() {
  for (const figure of figures()) {
    yield* Console.log(row(figure))
    if (isMissed(figure)) yield* Console.log((figure.places ?? []).map((place) => `  ${place}`).join("\n"))
    if (isMissed(figure)) process.exitCode = 1
  }
})

NodeRuntime.runMain(print)
