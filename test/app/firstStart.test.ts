import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as NodeChildProcess from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import { barrier } from "../../src/platform/database/embedded/EmbeddedAccount.ts"
import { cli } from "../support/cli.ts"
import { freePort } from "../support/freePort.ts"
import { eventually } from "../support/Service.ts"
import { longer } from "../support/waiting.ts"

const root = NodePath.join(import.meta.dirname, "../..")
const main = NodePath.join(root, "src/main.ts")

/** Removes the files of an embedded database, which its server leaves shortly after its last user. */
const removeDatabase = (path: string) =>
  eventually(
    Effect.sync(() => NodeFs.existsSync(NodePath.join(path, "pg18/postmaster.pid"))),
    (runs) => !runs,
    longer.start
  ).pipe(
    Effect.ensuring(Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true })))
  )

/** A folder with this mode for a node that has everything embedded. */
const folderOf = (mode: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const path = NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "messaging-first-"))
      NodeFs.chmodSync(path, mode)
      return path
    }),
    (path) =>
      Effect.andThen(
        removeDatabase(NodePath.join(path, "db")),
        Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true }))
      )
  )

const dataDir = folderOf(0o711)

/** Starts a node that has everything embedded, and collects its output. Only root starts it as another user. */
const start = (command: ReadonlyArray<string>, env: Readonly<Record<string, string>>, user = {}) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const [program = "", ...words] = command
      const child = NodeChildProcess.spawn(program, words, {
        cwd: env["DATA_DIR"],
        env: { PATH: process.env["PATH"], PORT: "0", ...env },
        stdio: ["ignore", "pipe", "pipe"],
        ...user
      })
      let text = ""
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => void (text += String(chunk)))
      return { child, output: () => text }
    }),
    ({ child }) =>
      Effect.callback<void>((resume) => {
        if (child.exitCode !== null) return resume(Effect.void)
        child.once("exit", () => resume(Effect.void))
        child.kill("SIGTERM")
      })
  )

const serve = [process.execPath, main, "serve"]

/** The same on a new terminal. */
const onTerminal = ["script", "-qefc", serve.join(" "), "/dev/null"]

const hasTerminal = NodeChildProcess.spawnSync("script", ["--version"]).status === 0

/** An account without rights, where the tests run as root; otherwise the account of the tests has none. */
const ordinary = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined

/** The folder of the program, or of a copy where another account cannot read it. */
const readableProgram = Effect.gen(function*() {
  if (ordinary === undefined || Option.isNone(barrier(main, { ...ordinary, switched: true }))) return root
  const copy = yield* folderOf(0o755)
  const parts = ["package.json", "node_modules", "scripts", "sql", "src", "docs"]
  const { status, stderr } = NodeChildProcess.spawnSync("cp", ["-a", ...parts, copy], { cwd: root, encoding: "utf8" })
  assert.strictEqual(status, 0, stderr)
  return copy
})

/** Text without colours. */
// oxlint-disable-next-line no-control-regex
const plain = (text: string) => text.replaceAll(/\u001b\[[\d;]*m/g, "").replaceAll("\r", "")

const key = /sk_live_\w{38}/g

/** Where the node takes reports is nothing that a person has to read on the first screen. */
const aboutBounces = /bounces and complaints/

describe("the first start", () => {
  it.live(
    "without a terminal writes the key to a file for this account alone, and prints only the file's path",
    () =>
      Effect.gen(function*() {
        const folder = yield* dataDir
        const { output } = yield* start(serve, { DATA_DIR: folder })
        const text = yield* eventually(Effect.sync(output), (seen) => seen.includes("/?token="), longer.start)
        const path = NodePath.join(folder, "first-key")
        assert.include(text, `the first API key is in ${path}`)
        const link = NodePath.join(folder, "setup-link")
        assert.include(text, `the link to set up the console is in ${link}`)
        // A script that waits for "listening" reads the files at once.
        const [before = ""] = text.split("listening on ")
        assert.include(before, path)
        assert.include(before, link)
        assert.strictEqual(NodeFs.statSync(link).mode & 0o777, 0o600)
        assert.match(NodeFs.readFileSync(link, "utf8"), /^http:\/\/localhost:\d+\/console\/setup\/st_\w{38}\n$/)
        assert.isNull(text.match(key))
        assert.notMatch(text, aboutBounces)
        assert.strictEqual(NodeFs.statSync(path).mode & 0o777, 0o600)
        const [, address = ""] = /(http:\S+)\/\?token=/.exec(text) ?? []
        const authorization = `Bearer ${NodeFs.readFileSync(path, "utf8").trim()}`
        const answer = yield* Effect.promise(() => fetch(`${address}/v1/api-keys`, { headers: { authorization } }))
        assert.strictEqual(answer.status, 200)
      }).pipe(Effect.scoped)
  )

  it.live("answers no request before the key and the link of the setup are in their files", () =>
    Effect.gen(function*() {
      const folder = yield* dataDir
      const port = yield* freePort
      yield* start(serve, { DATA_DIR: folder, PORT: String(port) })
      const status = Effect.tryPromise(() => fetch(`http://127.0.0.1:${port}/health/ready`)).pipe(
        Effect.map((answer) => answer.status),
        Effect.orElseSucceed(() => 0)
      )
      yield* eventually(status, (seen) => seen !== 0, longer.start)
      assert.includeMembers(NodeFs.readdirSync(folder), ["first-key", "setup-link"])
    }).pipe(Effect.scoped))

  it.live("serves for a user without rights, who owns the embedded database", () =>
    Effect.gen(function*() {
      const folder = yield* dataDir
      if (ordinary !== undefined) NodeFs.chownSync(folder, ordinary.uid, ordinary.gid)
      const program = yield* readableProgram
      const command = [NodePath.join(program, "node_modules/.bin/node"), NodePath.join(program, "src/main.ts"), "serve"]
      const port = yield* freePort
      const { output } = yield* start(command, { DATA_DIR: folder, HOME: folder, PORT: String(port) }, ordinary)
      const answer = Effect.tryPromise(() => fetch(`http://127.0.0.1:${port}/health/ready`)).pipe(
        Effect.map(({ status }) => ({ status, text: output() })),
        Effect.orElseSucceed(() => ({ status: 0, text: output() }))
      )
      yield* eventually(answer, ({ status }) => status === 200, longer.start)
      const { uid } = NodeFs.statSync(NodePath.join(folder, "db/pg18"))
      assert.strictEqual(uid, ordinary?.uid ?? process.getuid?.())
    }).pipe(Effect.scoped))

  // The server has another account only where root starts it.
  it.live.skipIf(process.getuid?.() !== 0)(
    "says where the database is if its account cannot enter DATA_DIR",
    () =>
      Effect.gen(function*() {
        const folder = yield* folderOf(0o700)
        const said = /the database is in ([^:]+): its account cannot enter ([^"]+)"/
        const text = yield* start(serve, { DATA_DIR: folder }).pipe(
          Effect.flatMap(({ output }) => eventually(Effect.sync(output), (seen) => said.test(seen), longer.start)),
          Effect.scoped
        )
        const [, place = "", blocked] = said.exec(text) ?? []
        assert.strictEqual(blocked, NodePath.join(folder, "db"))
        assert.isTrue(NodeFs.existsSync(NodePath.join(place, "pg18/PG_VERSION")))
        yield* removeDatabase(place)
      }).pipe(Effect.scoped)
  )

  it.live.skipIf(!hasTerminal)(
    "on a terminal prints in colour one link, the key, and one request to paste, which works",
    () =>
      Effect.gen(function*() {
        const folder = yield* dataDir
        const { output } = yield* start(onTerminal, { DATA_DIR: folder, TERM: "xterm", SHELL: "/bin/sh" })
        const coloured = yield* eventually(Effect.sync(output), (seen) => /It works\."\}'/.test(seen), longer.start)
        assert.include(coloured, "\u001b[1m")
        const text = plain(coloured)
        assert.match(text, /info preparing the database in .*\n/)
        assert.strictEqual(text.match(/https?:\S+\/console\/setup\/st_\w{38}/g)?.length, 1)
        assert.notInclude(text, "?token=")
        const [first, second, ...others] = text.match(key) ?? []
        assert.deepStrictEqual([first, others], [second, []])
        assert.notMatch(text, aboutBounces)
        assert.isFalse(NodeFs.existsSync(NodePath.join(folder, "first-key")))
        const [command = ""] = /curl .*/.exec(text) ?? []
        const answer = NodeChildProcess.execFileSync("sh", ["-c", command], { encoding: "utf8", stdio: "pipe" })
        assert.strictEqual(JSON.parse(answer).data.status, "queued")
      }).pipe(Effect.scoped)
  )

  it.live.skipIf(!hasTerminal)(
    "is the only one that prints a key: the second prints one link, and the command that creates another key",
    () =>
      Effect.gen(function*() {
        const folder = yield* dataDir
        const env = { DATA_DIR: folder, TERM: "xterm", SHELL: "/bin/sh" }
        yield* start(onTerminal, env).pipe(
          Effect.flatMap(({ output }) => eventually(Effect.sync(output), (seen) => key.test(seen), longer.start)),
          Effect.scoped
        )
        const { output } = yield* start(onTerminal, env)
        const seen = yield* eventually(Effect.sync(output), (text) => text.includes("Another API key: "), longer.start)
        const text = plain(seen)
        assert.isNull(text.match(key))
        assert.strictEqual(text.match(/https?:\S+\/console\/setup\/st_\w{38}/g)?.length, 1)
        const [, words = ""] = /^Another API key: npm run cli -- (.*)$/m.exec(text) ?? []
        const created = yield* cli(words.split(" "), { DATA_DIR: folder })
        assert.match(created.stdout, key, created.stderr)
      }).pipe(Effect.scoped)
  )

  it.live.skipIf(!hasTerminal)(
    "on a terminal prints no colour with NO_COLOR",
    () =>
      Effect.gen(function*() {
        const folder = yield* dataDir
        const { output } = yield* start(onTerminal, {
          DATA_DIR: folder,
          TERM: "xterm",
          SHELL: "/bin/sh",
          NO_COLOR: "1"
        })
        const text = yield* eventually(Effect.sync(output), (seen) => /It works\."\}'/.test(seen), longer.start)
        assert.notInclude(text, "\u001b[")
      }).pipe(Effect.scoped)
  )
})
