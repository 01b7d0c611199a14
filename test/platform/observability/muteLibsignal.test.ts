import { assert, describe, it } from "@effect/vitest"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodePath from "node:path"
import * as NodeUrl from "node:url"

const fromRoot = (path: string) => NodeUrl.fileURLToPath(new URL(`../../../${path}`, import.meta.url))

const folder = fromRoot("node_modules/libsignal/src")
const sources = NodeFs.readdirSync(folder)
  .filter((file) => file.endsWith(".js"))
  .map((file) => NodeFs.readFileSync(NodePath.join(folder, file), "utf8"))

/** The console method and the first text of each of libsignal's calls. */
const printed = sources.flatMap((source) =>
  [...source.matchAll(/console\.(\w+)\(\s*(["'])(.*?)\2/g)].map(([, method = "", , text = ""]) => ({ method, text }))
)

/** The output of a process that mutes libsignal and prints these texts. The test runner replaces its own console. */
const writtenFor = (lines: ReadonlyArray<{ readonly method: string; readonly text: string }>): string => {
  const program = `
    await import(process.argv[1])
    for (const { method, text } of JSON.parse(process.argv[2])) console[method](text, { privKey: "secret" })
  `
  const { stderr, stdout } = NodeChildProcess.spawnSync(process.execPath, [
    "--input-type=module",
    "--eval",
    program,
    fromRoot("src/platform/observability/muteLibsignal.ts"),
    JSON.stringify(lines)
  ], { encoding: "utf8" })
  return stdout + stderr
}

describe("muteLibsignal", () => {
  it("mutes every call of libsignal", () => {
    const calls = sources.reduce((sum, source) => sum + source.split("console.").length - 1, 0)
    assert.isAbove(calls, 10)
    assert.strictEqual(printed.length, calls)
    assert.strictEqual(writtenFor(printed), "")
  })

  it("mutes nothing else", () => {
    assert.include(writtenFor([{ method: "error", text: "The database is away" }]), "The database is away")
  })
})
