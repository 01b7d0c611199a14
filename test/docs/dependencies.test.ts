import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import { read, root } from "./documents.ts"

const Versions = Schema.Record(Schema.String, Schema.String)

const Package = Schema.fromJsonString(
  Schema.Struct({ dependencies: Versions, optionalDependencies: Versions, devDependencies: Versions })
)
const Lock = Schema.fromJsonString(Schema.Struct({
  packages: Schema.Record(
    Schema.String,
    Schema.Struct({ license: Schema.optionalKey(Schema.String), dev: Schema.optionalKey(Schema.Boolean) })
  )
}))
const Manifest = Schema.fromJsonString(Schema.Struct({ license: Schema.String }))

const { dependencies, devDependencies, optionalDependencies } = Schema.decodeSync(Package)(read("package.json"))
const all = Object.entries({ ...dependencies, ...optionalDependencies, ...devDependencies })

const rows = read("docs/decisions/0008-dependencies.md").split("\n").flatMap((line) => {
  const [, names = "", versions = "", license = ""] = line.split("|").map((cell) => cell.trim())
  return line.startsWith("| ") ? [{ names: names.split(", "), versions: versions.split(", "), license }] : []
})

const rowOf = (name: string) =>
  rows.find(({ names }) => names.includes(name) || names.includes(name.replace(/\/.*/, "/*")))

/** Licences compatible with GPL-3.0-or-later. */
const compatible = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "GPL-3.0",
  "GPL-3.0-or-later",
  "ISC",
  "LGPL-3.0-or-later",
  "MIT",
  "MIT-0",
  "MPL-2.0",
  "Python-2.0",
  "Unlicense"
])

describe("dependencies", () => {
  it("every version is pinned exactly", () => {
    for (const [name, version] of all) assert.match(version, /^\d+\.\d+\.\d+(-[\w.]+)?$/, name)
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

  it("the service's dependencies, transitive ones included, have compatible licences", () => {
    for (
      const [path, { dev, license }] of Object.entries(Schema.decodeSync(Lock)(read("package-lock.json")).packages)
    ) {
      if (path === "" || dev === true || license === undefined) continue
      assert.isTrue(
        license.replaceAll(/[()]/g, "").split(" OR ").some((one) =>
          one.split(" AND ").every((all) => compatible.has(all))
        ),
        `${path}: ${license}`
      )
    }
  })
})
