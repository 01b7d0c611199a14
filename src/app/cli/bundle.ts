import * as NodeCrypto from "node:crypto"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"

/**
 * The file with the joined program of a checkout, which scripts/bundle.ts writes. Its path has a hash over the names, sizes and
 * times of the sources. So after a change there is no such file, and a start runs the sources. This module imports no
 * package, because it decides which ones are loaded.
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
  return NodePath.join(checkout, "node_modules/.cache/bundle", hash.digest("hex").slice(0, 16), "Cli.js")
}
