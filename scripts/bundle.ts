/**
 * Joins the modules of the programs into a few files, which load in half of the time: `node scripts/bundle.ts [directory]`.
 * npm runs it after each `npm ci`. A program runs its result while the sources are the same. Packages other than Effect
 * stay as they are.
 */
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import { rolldown } from "rolldown"
import { bundleOf, programs } from "../src/app/shell/bundle.ts"

const root = NodePath.resolve(import.meta.dirname, "..")

/** A source finds its files, such as styles, beside itself, also when it is a part of the bundle. */
const ownFiles = (directory: string) => ({
  name: "own-files",
  transform: (code: string, path: string) => {
    const url = `new URL(${JSON.stringify(NodePath.relative(directory, path))}, import.meta.url).href`
    return path.startsWith(NodePath.join(root, "src")) ? code.replaceAll("import.meta.url", url) : null
  }
})

/** Effect, and the helpers of the bundler. */
const isJoined = (name: string) => /^(?:effect|@effect\/[\w-]+|@oxc-project\/runtime)(?:\/|$)/.test(name)

const write = async (directory: string) => {
  const bundle = await rolldown({
    cwd: root,
    input: programs,
    platform: "node",
    external: (name) => /^[@\w]/.test(name) && !isJoined(name),
    plugins: [ownFiles(directory)]
  })
  // A killed build leaves no bundle.
  const unfinished = `${directory}.${process.pid}`
  // Node takes a file with this ending for a module without reading it first.
  await bundle.write({
    dir: unfinished,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs"
  })
  NodeFs.rmSync(directory, { recursive: true, force: true })
  NodeFs.renameSync(unfinished, directory)
}

const own = bundleOf(root)
const [named] = process.argv.slice(2)
if (named === undefined) {
  // Those of other sources.
  NodeFs.rmSync(NodePath.dirname(own), { recursive: true, force: true })
}
await write(named === undefined ? own : NodePath.resolve(named))
