import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import { read, root } from "./documents.ts"

const Versions = Schema.Record(Schema.String, Schema.String)

const Package = Schema.fromJsonString(
  Schema.Struct({ dependencies: Versions, optionalDependencies: Versions, devDependencies: Versions })
)
const Manifest = Schema.fromJsonString(Schema.Struct({ license: Schema.String }))

const { dependencies, devDependencies, optionalDependencies } = Schema.decodeSync(Package)(read("package.json"))
const all = Object.entries({ ...dependencies, ...optionalDependencies, ...devDependencies })

const rows = read("docs/decisions/0008-dependencies.md").split("\n").flatMap((line) => {
  const [, names = "", versions = "", license = ""] = line.split("|").map((cell) => cell.trim())
  return line.startsWith("| ") ? [{ names: names.split(", "), versions: versions.split(", "), license }] : []
})

const rowOf = (name: string) =>
  rows.find(({ names }) => names.includes(name) || names.includes(name.replace(/\/.*/, "/*")))

describe("dependencies", () => {
  it("every version is pinned exactly", () => {
    for (const [name, version] of all) assert.match(version, /^(\d+\.\d+\.\d+(-[\w.]+)?|file:[\w/-]+)$/, name)
  })

  for (const [name, version] of all) {
    it(`${name} is in the decision with its version, licence and reason`, () => {
      const row = rowOf(name)
      assert.isDefined(row)
      assert.include(row?.versions, version)
      const manifest = NodePath.join(root, "node_modules", name, "package.json")
      // Packages of other platforms are not installed here.
      if (!NodeFs.existsSync(manifest)) return
      assert.strictEqual(Schema.decodeSync(Manifest)(NodeFs.readFileSync(manifest, "utf8")).license, row?.license)
    })
  }

  it("the decision lists no unused package", () => {
    const named = new Set(all.map(([name]) => rowOf(name)))
    const unused = rows.filter((row) => !named.has(row) && row.names[0] !== "Package")
    assert.deepStrictEqual(unused.map(({ names }) => names), [])
  })
})
