import { assert, describe, it } from "@effect/vitest"
import * as NodeChildProcess from "node:child_process"
import { envExample, settingsPage } from "../../scripts/settings.ts"
import { settings } from "../../src/platform/config/settings.ts"
import { read } from "./documents.ts"

/** The variables that a POSIX shell reads from a file. */
const sourced = (variables: string) => {
  const names = Object.values(settings).map(({ name }) => name)
  const show = names.map((name) => `printf '%s\\0' "$${name}"`).join("\n")
  const values = NodeChildProcess.execFileSync("sh", ["-c", `${variables}\n${show}`], { encoding: "utf8", env: {} })
  return Object.fromEntries(values.split("\0").slice(0, -1).map((value, index) => [names[index], value]))
}

describe("the settings", () => {
  it(".env.example is current (else run: node scripts/settings.ts)", () => {
    assert.strictEqual(read(".env.example"), envExample())
  })

  it("docs/settings.md is current (else run: node scripts/settings.ts)", () => {
    assert.strictEqual(read("docs/settings.md"), settingsPage())
  })

  it("docs/settings.md lists each setting once", () => {
    const listed = [...settingsPage().matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
    assert.deepStrictEqual(listed, Object.values(settings).map(({ name }) => name))
  })

  it("DATABASE_CONNECTIONS and the pages name as many further connections", () => {
    const [, further = ""] = settings.databaseConnections.meaning.split(" for requests. ")
    const sums = further.split(", ").map((part) => {
      const [, names = "", count] = /^(.+?) (?:use )?(\d+)/.exec(part) ?? []
      return Number(count) * (part.includes(" each") ? names.split(" and ").length : 1)
    })
    const sum = sums.reduce((total, each) => total + each, 0)
    assert.include(read("docs/operations.md"), `\`DATABASE_CONNECTIONS\` + ${sum} connections`)
    assert.include(read("docs/guides/three-nodes.md"), `\`DATABASE_CONNECTIONS\` and ${sum} more`)
  })

  it("a shell that reads .env.example with every line uncommented gets the defaults", () => {
    const variables = envExample().replaceAll(/^#(?=[A-Z_]+=)/gm, "")
    const defaults = Object.fromEntries(Object.values(settings).map(({ fallback, name }) => [name, fallback]))
    assert.deepStrictEqual(sourced(variables), defaults)
  })
})
