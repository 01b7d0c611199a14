import * as NodeCrypto from "node:crypto"
import * as NodeFs from "node:fs"
import * as NodeModule from "node:module"
import * as NodePath from "node:path"

// This module imports no package, because it decides which ones are loaded.

/** The programs that are joined, each with the source that it begins with. */
export const programs = { "messaging-service": "src/app/cli/Cli.ts", messaging: "src/app/client/run.ts" } as const

const root = NodePath.resolve(import.meta.dirname, "../../..")

/**
 * The directory with the joined programs of a checkout, which scripts/bundle.ts writes. Its name is a hash over the names,
 * sizes and times of the sources. So after a change there is no such directory, and a start runs the sources.
 */
export const bundleOf = (checkout: string): string => {
  const hash = NodeCrypto.createHash("sha256")
  const sources = NodePath.join(checkout, "src")
  const paths = NodeFs.readdirSync(sources, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => NodePath.join(entry.parentPath, entry.name))
  for (const path of paths.toSorted()) {
    const { mtimeMs, size } = NodeFs.statSync(path)
    // Seconds, because archives keep no more.
    hash.update(`${NodePath.relative(sources, path)} ${size} ${Math.trunc(mtimeMs / 1000)}\n`)
  }
  return NodePath.join(checkout, "node_modules/.cache/bundle", hash.digest("hex").slice(0, 16))
}

/** Imports the joined program. After a change of the sources there is none, and `load` imports the sources. */
export const loadProgram = <A>(program: keyof typeof programs, load: () => Promise<A>): Promise<A> => {
  // Only this account reads the files that the process creates.
  process.umask(0o077)
  // Before the program is loaded: a start finds what the one before it has compiled, which saves a third of its time. The
  // process runs what it finds there, so the directory is not below /tmp, where other accounts can create it first.
  NodeModule.enableCompileCache(NodePath.join(root, "node_modules/.cache/compile"))
  const joined = NodePath.join(bundleOf(root), `${program}.mjs`)
  return NodeFs.existsSync(joined) ? import(joined) : load()
}
