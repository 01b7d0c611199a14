import { assert, describe, it } from "@effect/vitest"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import { applyFault, mutants } from "../../scripts/mutants.ts"
import { root } from "./plant.ts"

describe("the patches of scripts/mutants", () => {
  const all = mutants()

  it("are at least 267", () => {
    assert.isAtLeast(all.length, 267)
  })

  for (const { broken, files, name, path } of all) {
    it(`${name} applies, names test files and says what it breaks`, () => {
      assert.strictEqual(applyFault(root, path, "--check"), "", "adapt the patch to the changed code")
      for (const file of files) {
        assert.match(file, /^test\/.+\.test\.ts$/)
        assert.isTrue(NodeFs.existsSync(NodePath.join(root, file)), `${file} does not exist`)
      }
      assert.match(broken, /^[A-Z].+\.$/)
    })
  }
})
