import { Effect } from "effect"
import { execFile, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url))
const messagingPath = fileURLToPath(new URL("../../src/app/client/messaging.ts", import.meta.url))

/** What `npm start` and `npm run` set: a process finds all its modules compiled. */
export const compiled = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL("../../node_modules/.cache/compile", import.meta.url))
} as const

/** Every channel in the sandbox, which production must ask for by name. */
export const sandboxed = { SMTP_URL: "sandbox", SMS_PROVIDER: "sandbox", WHATSAPP_URL: "sandbox" } as const

/** Exit code and output of a command. */
export interface CommandEnd {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

interface RunOptions {
  readonly cwd?: string
  readonly input?: string
  /** Only root runs a command as another user. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined
}

type Run = (
  words: ReadonlyArray<string>,
  environment?: Readonly<Record<string, string>>,
  options?: RunOptions
) => Effect.Effect<CommandEnd>

const runOf = (program: string): Run => (words, environment = {}, { cwd, input = "", user } = {}) =>
  Effect.callback<CommandEnd>((resume) => {
    const child = execFile(
      process.execPath,
      [program, ...words],
      { env: { PATH: process.env["PATH"], ...compiled, ...environment }, cwd, ...user },
      (error, stdout, stderr) =>
        resume(Effect.succeed({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr }))
    )
    if (input !== "") child.stdin?.write(input)
  })

/** Runs the operator's command line in a new process, in a directory. Its standard input stays open after `input`. */
export const cli = runOf(main)

/** Runs the users' command line, in the same way. */
export const messaging = runOf(messagingPath)

/** The users' command line as a process that goes on, with the lines of its standard output. */
export const startMessaging = (words: ReadonlyArray<string>, environment: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(process.execPath, [messagingPath, ...words], {
        env: { PATH: process.env["PATH"], ...compiled, ...environment },
        stdio: ["ignore", "pipe", "pipe"]
      })
      const output: { text: string; code: number | null } = { text: "", code: null }
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding("utf8").on("data", (text: string) => void (output.text += text))
      }
      child.once("close", (code) => void (output.code = code ?? -1))
      return { child, output }
    }),
    ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
  )
