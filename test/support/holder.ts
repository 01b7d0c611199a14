import { Effect, Queue, Schema } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodeProcess from "node:process"
import * as NodeReadline from "node:readline"
import * as NodeUrl from "node:url"
import { eventually, inPatience, longer } from "./waiting.ts"

const Ready = Schema.fromJsonString(Schema.Struct({ socket: Schema.String, base: Schema.String }))

/** Another process that runs the embedded server of a data directory. */
export interface Holder {
  readonly socket: string
  readonly base: string
  /** Runs SQL in that process and returns JSON: `{"rows":[…]}` or `{"error":"…"}`. */
  readonly ask: (statement: string) => Effect.Effect<string>
  /** Sends the signal and waits until the process has exited. */
  readonly kill: (signal: NodeJS.Signals) => Effect.Effect<void>
}

const program = NodeUrl.fileURLToPath(new URL("holderProcess.ts", import.meta.url))

/** Starts a holder and waits until its server is ready. It is killed with the scope. */
export const startHolder = Effect.fn("startHolder")(
  function*(dataDir: string, durability: "durable" | "fast" = "fast") {
    const child = yield* Effect.acquireRelease(
      Effect.sync(() => NodeChildProcess.spawn(NodeProcess.execPath, [program, dataDir, durability])),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    const lines = yield* Queue.unbounded<string>()
    NodeReadline.createInterface({ input: child.stdout }).on("line", (line) => Queue.offerUnsafe(lines, line))
    child.stderr.on("data", (bytes: Buffer) => Queue.offerUnsafe(lines, bytes.toString("utf8")))
    const said = inPatience(Queue.take(lines), () => `nothing from the holder of ${dataDir}`, longer.start)
    const { base, socket } = yield* Effect.flatMap(said, Schema.decodeUnknownEffect(Ready))
    const gone = eventually(
      Effect.sync(() => ({ code: child.exitCode, signal: child.signalCode })),
      ({ code, signal }) => code !== null || signal !== null,
      longer.start
    )
    return {
      socket,
      base,
      ask: (statement) => Effect.sync(() => child.stdin.write(`${statement}\n`)).pipe(Effect.andThen(said)),
      kill: (signal) => Effect.sync(() => child.kill(signal)).pipe(Effect.andThen(gone), Effect.asVoid)
    } satisfies Holder
  }
)

/** Ids of processes with this text in their command line, such as a server's data directory. */
export const processesWith = (text: string) =>
  Effect.sync(() =>
    NodeFs.readdirSync("/proc").filter((name) => /^\d+$/.test(name) && commandLine(name).includes(text)).map(Number)
  )

const commandLine = (pid: string) => {
  try {
    return NodeFs.readFileSync(`/proc/${pid}/cmdline`, "utf8")
  } catch {
    return ""
  }
}
