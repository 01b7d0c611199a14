import { Effect } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import { root } from "../../scripts/sdk/sources.ts"

/** A new folder that is removed with the scope. */
export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "sdk-"))),
  (path) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true }))
)

/** How a program ended, with all that it printed. */
export interface Ended {
  readonly code: number | null
  readonly output: string
}

/** Runs a program to its end. */
export const runProgram = (
  program: string,
  words: ReadonlyArray<string>,
  { cwd, env }: { readonly cwd?: string; readonly env?: Readonly<Record<string, string | undefined>> } = {}
) =>
  Effect.callback<Ended>((resume) => {
    // A registry behind a proxy may have a certificate that only this machine knows.
    const { HOME, NODE_EXTRA_CA_CERTS, PATH } = process.env
    const child = NodeChildProcess.spawn(program, words, {
      cwd,
      env: { PATH, HOME, NODE_EXTRA_CA_CERTS, ...env },
      stdio: ["ignore", "pipe", "pipe"]
    })
    const chunks: Array<Buffer> = []
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => chunks.push(chunk))
    child.once("error", (error) => resume(Effect.succeed({ code: null, output: String(error) })))
    child.once("close", (code) => resume(Effect.succeed({ code, output: Buffer.concat(chunks).toString("utf8") })))
    return Effect.sync(() => child.kill("SIGKILL"))
  })

/** A tool that npm installed. */
export const tool = (name: string): string => NodePath.join(root, "node_modules/.bin", name)

/** The fenced blocks of a page, each with what follows the language. */
export const fencesOf = (
  page: string,
  language: string
): ReadonlyArray<{ readonly what: string; readonly code: string }> =>
  [
    ...NodeFs.readFileSync(NodePath.join(root, page), "utf8").matchAll(
      new RegExp(`^\`\`\`${language}( \\w+)?\n(.*?)^\`\`\``, "gms")
    )
  ].map(([, what = "", code = ""]) => ({ what: what.trim(), code }))
