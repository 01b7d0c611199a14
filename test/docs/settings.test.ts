import { assert, describe, it } from "@effect/vitest"
import * as NodeChildProcess from "node:child_process"
import { envExample, withTable } from "../../scripts/settings.ts"
import { settings } from "../../src/platform/config/settings.ts"
import { read } from "./documents.ts"

/** What a POSIX shell makes of a file of variables. */
const sourced = (variables: string) => {
  const names = Object.values(settings).map(({ name }) => name)
  const show = names.map((name) => `printf '%s\\0' "$${name}"`).join("\n")
  const values = NodeChildProcess.execFileSync("sh", ["-c", `${variables}\n${show}`], { encoding: "utf8", env: {} })
  return Object.fromEntries(values.split("\0").slice(0, -1).map((value, index) => [names[index], value]))
}

describe("the settings", () => {
  it("stand in .env.example as they are in AppConfig (else run: node scripts/settings.ts)", () => {
    assert.strictEqual(read(".env.example"), envExample())
  })

  it("stand in the README's table as they are in AppConfig (else run: node scripts/settings.ts)", () => {
    const readme = read("README.md")
    assert.include(readme, `| \`${settings.port.name}\` | \`${settings.port.fallback}\` |`)
    assert.strictEqual(readme, withTable(readme))
  })

  it("are the defaults when a shell reads .env.example with every line taken in", () => {
    const variables = envExample().replaceAll(/^#(?=[A-Z_]+=)/gm, "")
    const defaults = Object.fromEntries(Object.values(settings).map(({ fallback, name }) => [name, fallback]))
    assert.deepStrictEqual(sourced(variables), defaults)
  })
})
