import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"

export const root = NodePath.resolve(import.meta.dirname, "../..")

const settings = [".oxlintrc.json", "dprint.json", "knip.json", "package.json", "scripts/lint", "tsconfig.json"]

/** Calls `use` in a temporary copy of the project that has its tools and settings, but only these source files. */
export const planted = <A>(files: Readonly<Record<string, string>>, use: (folder: string) => A): A => {
  const folder = NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "planted-"))
  try {
    for (const path of settings) {
      NodeFs.cpSync(NodePath.join(root, path), NodePath.join(folder, path), { recursive: true })
    }
    NodeFs.symlinkSync(NodePath.join(root, "node_modules"), NodePath.join(folder, "node_modules"))
    for (const [file, code] of Object.entries(files)) {
      NodeFs.mkdirSync(NodePath.join(folder, NodePath.dirname(file)), { recursive: true })
      NodeFs.writeFileSync(NodePath.join(folder, file), `${code}\n`)
    }
    return use(folder)
  } finally {
    NodeFs.rmSync(folder, { recursive: true })
  }
}
