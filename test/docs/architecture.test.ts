import { assert, describe, it } from "@effect/vitest"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import { read, root } from "./documents.ts"

const page = read("docs/architecture.md")

const modules = new Set(
  NodeFs.readdirSync(NodePath.join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => NodePath.basename(file, ".ts"))
)

/** The modules that the section under a heading names. */
const namesUnder = (heading: string) =>
  [...(page.split(`### ${heading}\n`)[1]?.split("\n#")[0] ?? "").matchAll(/`(\w+)`/g)].map(([, name = ""]) => name)

const paths = [
  ["From a bulk recipient to its mail", 10],
  ["From an inbound WhatsApp message to its event", 14],
  ["From an event to its webhook attempt", 12]
] as const

describe("docs/architecture.md", () => {
  it("has at most 1,000 words", () => {
    assert.isAtMost(page.split(/\s+/).length, 1_001)
  })

  for (const [heading, most] of paths) {
    it(`names at most ${most} existing files under "${heading}"`, () => {
      const names = namesUnder(heading)
      assert.isAtLeast(names.length, 5)
      assert.isAtMost(names.length, most)
      assert.deepStrictEqual(names.filter((name) => !modules.has(name)), [])
    })
  }
})
