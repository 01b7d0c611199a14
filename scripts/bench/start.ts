/**
 * Measures what a start costs: time until a node answers, its memory when idle, the time of `--version`, and the size of
 * the installed packages. With BENCH_BASE, the checkout of another version, both take turns.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Config, Effect, Option } from "effect"
import { execFile } from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import { promisify } from "node:util"
import { residentOf } from "./support/processUse.ts"
import { awaitLine, spawn } from "./support/script.ts"
import { median, printTable } from "./support/table.ts"

const turns = 5
const idle = "10 seconds"
const here = NodePath.join(import.meta.dirname, "../..")

const folder = Effect.acquireRelease(
  Effect.sync(() => {
    const path = NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "messaging-start-"))
    // If root runs this, the server's account must be able to enter the directory.
    NodeFs.chmodSync(path, 0o711)
    return path
  }),
  (path) => Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))
)

const seconds = (since: number) => (performance.now() - since) / 1000

/** Seconds until a node in this folder answers, and its memory after a while without requests. */
const started = Effect.fnUntraced(function*(checkout: string, directory: string) {
  const since = performance.now()
  const child = yield* spawn(["--v8-pool-size=0", NodePath.join(checkout, "src/main.ts"), "serve"], {
    env: {
      PATH: process.env["PATH"],
      PORT: "0",
      DATA_DIR: directory,
      LOG_FORMAT: "pretty",
      // As `npm start` and the units of docs/deploy do. Without it Node loads its TypeScript parser: 8 MB.
      NODE_COMPILE_CACHE: NodePath.join(checkout, "node_modules/.cache/compile")
    },
    cwd: directory,
    stdio: ["ignore", "ignore", "pipe"]
  })
  if (child.stderr === null) return yield* Effect.die("no standard error")
  const port = yield* awaitLine(child.stderr, (line) => /listening on http:\/\/[^:]+:(\d+)/.exec(line)?.[1])
  yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}/health/ready`).then((answer) => answer.text()))
  const time = seconds(since)
  child.stderr.resume()
  yield* Effect.sleep(idle)
  return { time, resident: residentOf(child.pid ?? 0) }
}, Effect.scoped)

const versionTime = Effect.fnUntraced(function*(checkout: string) {
  const since = performance.now()
  yield* Effect.promise(() =>
    promisify(execFile)(process.execPath, [NodePath.join(checkout, "src/main.ts"), "--version"])
  )
  return seconds(since)
})

/** Megabytes on disk of what `npm ci --omit=dev` installs. */
const installedSize = Effect.fnUntraced(function*(checkout: string) {
  const directory = yield* folder
  for (const name of ["package.json", "package-lock.json", "scripts", "src"]) {
    NodeFs.cpSync(NodePath.join(checkout, name), NodePath.join(directory, name), { recursive: true })
  }
  const { stdout } = yield* Effect.promise(async () => {
    await promisify(execFile)("npm", ["ci", "--omit=dev"], { cwd: directory })
    return promisify(execFile)("du", ["-sm", NodePath.join(directory, "node_modules")])
  })
  return Number.parseInt(stdout, 10)
}, Effect.scoped)

const turn = Effect.fnUntraced(function*(checkout: string) {
  const directory = yield* folder
  const first = yield* started(checkout, directory)
  const second = yield* started(checkout, directory)
  return { first: first.time, again: second.time, resident: second.resident, version: yield* versionTime(checkout) }
}, Effect.scoped)

type Turn = Effect.Success<ReturnType<typeof turn>>

const metrics: Readonly<Record<keyof Turn, readonly [name: string, aim: number]>> = {
  first: ["first start, seconds", 3],
  again: ["start on existing data, seconds", 1.5],
  resident: ["resident memory of an idle node, MB", 150],
  version: ["--version, seconds", 0.2]
}

const bench = Effect.gen(function*() {
  const base = yield* Config.option(Config.String("BENCH_BASE"))
  const checkouts = [here, ...Option.toArray(base).map((path) => NodePath.resolve(path))]
  const measured = checkouts.map((): Array<Turn> => [])
  // The first turn of each fills its compile cache.
  for (const checkout of checkouts) yield* turn(checkout)
  for (let index = 0; index < turns; index++) {
    for (const [at, checkout] of checkouts.entries()) measured[at]?.push(yield* turn(checkout))
  }
  const sizes = yield* Effect.forEach(checkouts, installedSize)
  const line = (metric: string, aim: number, values: ReadonlyArray<number>) => {
    const [value = 0, other] = values
    const limit = other === undefined
      ? { name: "the aim: at most", value: aim }
      : { name: "the other version", value: other }
    return { metric, value, limit }
  }
  // `metrics` has the keys of a turn.
  const lines = (Object.keys(metrics) as Array<keyof Turn>).map((key) =>
    line(...metrics[key], measured.map((all) => median(all.map((one) => one[key]))))
  )
  yield* printTable(`start: median of ${turns} turns`, [
    ...lines,
    line("installed with --omit=dev, MB", 300, sizes)
  ])
})

NodeRuntime.runMain(bench)
