/** The commands of the guides for operators. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import { read, root } from "../docs/documents.ts"
import { sandboxed } from "./cli.ts"
import { foreignPrograms, foreignServer } from "./foreignServer.ts"
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

/** A separate PostgreSQL with an account, and the variables that the guides name. */
export const installation = Effect.gen(function*() {
  const programs = foreignPrograms ?? ""
  const socket = encodeURIComponent(NodePath.dirname(yield* foreignServer(programs)))
  const urlOf = (database: string) => `postgres://postgres@localhost/${database}?host=${socket}`
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "nodes-"))),
    (path) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true }))
  )
  const env = {
    PATH: `${programs}:${process.env["PATH"]}`,
    DATABASE_URL: urlOf("postgres"),
    RESTORED_URL: urlOf("restored"),
    BACKUP: NodePath.join(folder, "messaging.dump"),
    MODE: "production"
  }
  const account = ["--email ada@example.com", "--name Ada", "--plan enterprise", "--json"].join(" ")
  const created = yield* runs(`npm run -s cli -- account create ${account}`, env)
  const key = String(JSON.parse(/^\{.*\}$/ms.exec(created.output)?.[0] ?? "{}").api_key)
  return { env, key }
})
