/** The commands of the guides for operators. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeOs from "node:os"
import { read, root } from "../docs/documents.ts"
import { sandboxed } from "./cli.ts"
import { encryptionKey } from "./Service.ts"

/** The text of a guide. */
export const textOf = (name: string) => read(`docs/guides/${name}.md`)

/** Blocks of a language, also those within a list. */
export const blocksOf = (name: string, language: string) =>
  [...textOf(name).matchAll(new RegExp(`^( *)\`\`\`${language}\\n(.*?)^ *\`\`\``, "gms"))].map((
    [, indent = "", text = ""]
  ) => text.replaceAll(new RegExp(`^${indent}`, "gm"), ""))

interface End {
  readonly code: number | null
  readonly output: string
}

/** Runs a block with the settings of a node. */
const shell = (block: string, env: Readonly<Record<string, string>>) =>
  Effect.callback<End>((resume) => {
    const child = NodeChildProcess.spawn("sh", ["-e"], {
      cwd: root,
      env: { PATH: process.env["PATH"], HOME: NodeOs.tmpdir(), ENCRYPTION_KEY: encryptionKey, ...sandboxed, ...env }
    })
    let output = ""
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => (output += String(bytes)))
    child.once("close", (code) => resume(Effect.succeed({ code, output })))
    child.stdin.end(block)
  })

/** Runs a block with the settings of a node. It must end with 0. */
export const runs = (block: string, env: Readonly<Record<string, string>>) =>
  Effect.tap(
    shell(block, env),
    ({ code, output }) => Effect.sync(() => assert.strictEqual(code, 0, `${block}\n${output}`))
  )
