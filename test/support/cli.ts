import { Effect } from "effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

/** Every channel in the sandbox, which production must ask for by name. */
export const sandboxed = { SMTP_URL: "sandbox", SMS_PROVIDER: "sandbox", WHATSAPP_URL: "sandbox" } as const

/** Exit code and output of a command. */
export interface CommandEnd {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command line in a new process, in a directory. Its standard input stays open after `input`. */
export const cli = (
  words: ReadonlyArray<string>,
  environment: Readonly<Record<string, string>> = {},
  { cwd, input = "" }: { readonly cwd?: string; readonly input?: string } = {}
) =>
  Effect.callback<CommandEnd>((resume) => {
    const child = execFile(
      process.execPath,
      [main, ...words],
      { env: { PATH: process.env["PATH"], ...environment }, cwd },
      (error, stdout, stderr) =>
        resume(Effect.succeed({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr }))
    )
    if (input !== "") child.stdin?.write(input)
  })
