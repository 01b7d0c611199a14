/**
 * Proves that the tests detect planted faults: `npm run mutants [part of a name …]`.
 *
 * Each file of scripts/mutants is a patch that breaks one promise. Its first line names the test files, each of which must
 * detect it; its second line says what is broken. Each processor has a copy of the checkout, and applies one patch after the
 * other to it.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Schema } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"

const root = NodePath.resolve(import.meta.dirname, "..")
const folder = NodePath.join(root, "scripts/mutants")

/** The longest time of a patch. Its tests ended within it without the patch. */
const timeLimit = 4 * 60_000

interface Mutant {
  readonly name: string
  readonly path: string
  /** The test files, each of which must detect it. */
  readonly files: ReadonlyArray<string>
  readonly broken: string
}

/** The patches in the order of their names. */
export const mutants = (): ReadonlyArray<Mutant> =>
  NodeFs.readdirSync(folder).toSorted().map((file) => {
    const path = NodePath.join(folder, file)
    const [files = "", broken = ""] = NodeFs.readFileSync(path, "utf8").split("\n")
    return {
      name: NodePath.basename(file, ".patch"),
      path,
      files: files.replace(/^# /, "").split(" "),
      broken: broken.replace(/^# /, "")
    }
  })

/** What git says against applying a patch to a checkout; the empty text if it applies. */
export const applyFault = (checkout: string, path: string, ...options: ReadonlyArray<string>): string =>
  NodeChildProcess.spawnSync("git", ["apply", ...options, path], { cwd: checkout, encoding: "utf8" }).stderr.trim()

const Report = Schema.fromJsonString(Schema.Struct({
  testResults: Schema.Array(Schema.Struct({
    name: Schema.String,
    message: Schema.String,
    status: Schema.String,
    assertionResults: Schema.Array(Schema.Struct({ fullName: Schema.String, status: Schema.String }))
  }))
}))

interface Run {
  /** Whether it was stopped at its time limit. */
  readonly isLate: boolean
  readonly results: typeof Report.Type["testResults"]
}

/** Runs test files in a checkout. */
const runTests = (checkout: string, files: ReadonlyArray<string>, ...options: ReadonlyArray<string>) =>
  Effect.callback<Run>((resume) => {
    const output = NodePath.join(checkout, "report.json")
    NodeFs.rmSync(output, { force: true })
    const vitest = NodePath.join(root, "node_modules/vitest/vitest.mjs")
    const reporter = ["--reporter=json", `--outputFile=${output}`]
    const child = NodeChildProcess.spawn(process.execPath, [vitest, "run", ...files, ...reporter, ...options], {
      cwd: checkout,
      stdio: "ignore",
      timeout: timeLimit * files.length,
      killSignal: "SIGINT"
    })
    child.once("close", () => {
      const report = NodeFs.existsSync(output) ? NodeFs.readFileSync(output, "utf8") : `{ "testResults": [] }`
      resume(Effect.succeed({ isLate: child.killed, results: Schema.decodeSync(Report)(report).testResults }))
    })
    return Effect.sync(() => void child.kill("SIGINT"))
  })

/** A copy of the checkout, as it is on the disk. */
const copyOfCheckout = Effect.acquireRelease(
  Effect.sync(() => {
    const copy = NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "mutants-"))
    const listed = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for (const file of NodeChildProcess.execFileSync("git", listed, { cwd: root, encoding: "utf8" }).split("\0")) {
      const from = NodePath.join(root, file)
      if (file !== "" && NodeFs.existsSync(from)) NodeFs.cpSync(from, NodePath.join(copy, file))
    }
    NodeFs.symlinkSync(NodePath.join(root, "node_modules"), NodePath.join(copy, "node_modules"))
    return copy
  }),
  (copy) => Effect.sync(() => NodeFs.rmSync(copy, { recursive: true, force: true }))
)

/** The test files that fail without a patch. They detect nothing. */
const failingFiles = (checkout: string, files: ReadonlyArray<string>) =>
  Effect.map(
    runTests(checkout, files),
    ({ results }) => files.filter((file) => results.find(({ name }) => name.endsWith(`/${file}`))?.status !== "passed")
  )

interface Verdict {
  readonly isDetected: boolean
  readonly word: "detected" | "SURVIVED" | "does not apply"
  readonly detail: string
}

const detected = (detail: string): Verdict => ({ isDetected: true, word: "detected", detail })

const survived = (detail: string): Verdict => ({ isDetected: false, word: "SURVIVED", detail })

/** A run in which no test failed detects nothing, for example if a file cannot be loaded. */
const verdictOn = (file: string, { isLate, results }: Run): Verdict => {
  if (isLate) return detected("by the time limit")
  const failed = results.flatMap(({ assertionResults }) => assertionResults).find(({ status }) => status === "failed")
  if (failed !== undefined) return detected(failed.fullName)
  const broken = results.find(({ message }) => message !== "")
  if (broken !== undefined) return survived(`no test of ${file} failed, but: ${broken.message.split("\n")[0]}`)
  return survived(results.length === 0 ? `no test of ${file} ran` : `all tests of ${file} pass`)
}

const verdictOf = Effect.fnUntraced(function*(
  checkout: string,
  { files, path }: Mutant,
  failing: ReadonlyArray<string>
): Effect.fn.Return<Verdict> {
  const useless = files.filter((file) => failing.includes(file))
  if (useless.length > 0) return survived(`these fail without it: ${useless.join(", ")}`)
  const fault = applyFault(checkout, path)
  if (fault !== "") return { isDetected: false, word: "does not apply", detail: fault.split("\n")[0] ?? "" }
  const verdicts = yield* Effect.forEach(
    files,
    (file) => Effect.map(runTests(checkout, [file], "--bail=1"), (run) => verdictOn(file, run))
  )
  applyFault(checkout, path, "--reverse")
  return verdicts.find(({ isDetected }) => !isDetected)
    ?? detected(verdicts.map(({ detail }) => detail).join("; "))
})

const prove = Effect.gen(function*() {
  const parts = process.argv.slice(2)
  const chosen = mutants().filter(({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)))
  const checkouts = yield* Effect.forEach(NodeOs.cpus(), () => copyOfCheckout)
  const failing = yield* failingFiles(checkouts[0] ?? root, [...new Set(chosen.flatMap(({ files }) => files))])
  let left = 0
  // All take from one iterator.
  const rest = chosen.values()
  const proveRest = Effect.fnUntraced(function*(checkout: string) {
    for (const mutant of rest) {
      const { detail, isDetected, word } = yield* verdictOf(checkout, mutant, failing)
      yield* Console.log(`${mutant.name.padEnd(40)} ${word.padEnd(15)} ${detail}`)
      if (isDetected) continue
      yield* Console.log(`  ${mutant.broken}`)
      left += 1
    }
  })
  yield* Effect.forEach(checkouts, proveRest, { concurrency: "unbounded", discard: true })
  yield* Console.log(`${chosen.length - left} detected, ${left} survived`)
  if (left > 0) process.exitCode = 1
})

if (import.meta.main) NodeRuntime.runMain(Effect.scoped(prove))
