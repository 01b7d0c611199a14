import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import { planted, root } from "./plant.ts"

const Package = Schema.fromJsonString(Schema.Struct({ scripts: Schema.Record(Schema.String, Schema.String) }))
const { scripts } = Schema.decodeSync(Package)(NodeFs.readFileSync(NodePath.join(root, "package.json"), "utf8"))

const bin = NodePath.join(root, "node_modules/.bin")

/** Runs a script of package.json on the planted files. */
const gate = (script: string, files: Readonly<Record<string, string>>) =>
  planted(files, (cwd) => {
    const run = NodeChildProcess.spawnSync("sh", ["-c", scripts[script] ?? "exit 99"], {
      cwd,
      encoding: "utf8",
      env: { ...process.env, NO_COLOR: "1", PATH: `${bin}:${process.env["PATH"]}` }
    })
    return { passes: run.status === 0, says: run.stdout + run.stderr }
  })

const good = { "src/values/One.ts": "export const one = 1" }

/** One file in each place that the gates must check. */
const places = ["src/values/One.ts", "test/values/One.test.ts", "scripts/one.ts", "one.config.ts"]

describe("npm scripts that gate a commit", () => {
  for (const script of ["types", "lint", "format:check"]) {
    it(`${script} accepts good code`, () => {
      const { passes, says } = gate(script, good)
      assert.isTrue(passes, says)
    })
  }

  const faults = [
    ["types", "a wrong type", `export const one: number = "1"`, "TS2322"],
    [
      "types",
      "an Effect that is never run",
      `import { Effect } from "effect"\nEffect.log("lost")`,
      "effect(floatingEffect)"
    ],
    [
      "types",
      "a suggestion of Effect's checker",
      `import { Schema } from "effect"\nexport const one = Schema.Number`,
      "effect(schemaNumber)"
    ],
    ["lint", "an unused directive", `// oxlint-disable-next-line no-console\nexport const one = 1`, "Unused"],
    ["format:check", "a semicolon", "export const one = 1;", "not formatted"]
  ] as const

  for (const [script, what, code, says] of faults) {
    it(`${script} refuses ${what}`, () => {
      const found = gate(script, Object.fromEntries(places.map((place) => [place, code])))
      assert.isFalse(found.passes)
      for (const expected of [says, ...places]) assert.include(found.says, expected)
    })
  }

  it("unused reports a file, an export and a dependency that nothing uses", () => {
    const { passes, says } = gate("unused", {
      "src/main.ts": `import { one } from "./values/One.ts"\nexport const main = one`,
      "src/values/One.ts": "export const one = 1\nexport const two = 2",
      "src/values/Lost.ts": "export const lost = 1"
    })
    assert.isFalse(passes)
    assert.match(says, /^src\/values\/Lost\.ts/m)
    assert.match(says, /^two +src\/values\/One\.ts/m)
    assert.match(says, /^effect +package\.json/m)
    assert.notInclude(says, "main.ts ")
  })
})
