import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import * as NodeProcess from "node:process"
import { chooseAccount } from "../../../../src/platform/database/embedded/EmbeddedAccount.ts"
import { prepareFiles } from "../../../../src/platform/database/embedded/EmbeddedFiles.ts"
import { dropStaleLocks } from "../../../../src/platform/database/embedded/EmbeddedLease.ts"
import { boundLog } from "../../../../src/platform/database/embedded/EmbeddedLog.ts"
import * as EmbeddedPostgres from "../../../../src/platform/database/embedded/EmbeddedPostgres.ts"
import { processesWith, startHolder } from "../../../support/holder.ts"
import { eventually, longer } from "../../../support/waiting.ts"

/** A directory that the server's account can reach. Processes in it are killed before it is removed. */
const workplace = Effect.acquireRelease(
  Effect.sync(() => {
    const path = NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "embedded-"))
    NodeFs.chmodSync(path, 0o711)
    return path
  }),
  (path) => killAll(path).pipe(Effect.andThen(Effect.sync(() => NodeFs.rmSync(path, { recursive: true, force: true }))))
)

const killAll = (path: string) =>
  processesWith(path).pipe(
    // One may have ended meanwhile.
    Effect.flatMap(Effect.forEach((pid) => Effect.ignore(Effect.try(() => NodeProcess.kill(pid, "SIGKILL"))))),
    Effect.andThen(nothingRuns(path))
  )

const nothingRuns = (path: string) => eventually(processesWith(path), (pids) => pids.length === 0, longer.start)

/** The process of the server; undefined between two servers, which have no file. */
const postmaster = (base: string) =>
  Effect.try(() => Number(NodeFs.readFileSync(NodePath.join(base, "pg18/postmaster.pid"), "utf8").split("\n")[0])).pipe(
    Effect.orElseSucceed(() => undefined)
  )

/** These tests find processes in /proc, which other systems do not have. */
const onLinux = NodeFs.existsSync("/proc/self/cmdline")

describe.skipIf(!onLinux)("EmbeddedPostgres", () => {
  it.live("one server serves three processes that start at once, until the last one ends", () =>
    Effect.gen(function*() {
      const path = yield* workplace
      const dataDir = NodePath.join(path, "db")
      const [one, two, three] = yield* Effect.all([startHolder(dataDir), startHolder(dataDir), startHolder(dataDir)], {
        concurrency: 3
      })
      const started = "select pg_postmaster_start_time()::text as started"
      const first = yield* one.ask(started)
      assert.include(first, "rows")
      assert.strictEqual(yield* two.ask(started), first)
      yield* one.kill("SIGKILL")
      assert.strictEqual(yield* two.ask(started), first)
      yield* two.kill("SIGINT")
      assert.strictEqual(yield* three.ask(started), first)
      yield* three.kill("SIGTERM")
      yield* nothingRuns(path)
      assert.isFalse(NodeFs.existsSync(NodePath.join(one.base, "pg18/postmaster.pid")))
    }))

  it.live("a server whose processes are all killed keeps committed rows and starts again over stale lock files", () =>
    Effect.gen(function*() {
      const path = yield* workplace
      const dataDir = NodePath.join(path, "db")
      const before = yield* startHolder(dataDir, "durable")
      yield* before.ask("create table kept (id integer)")
      assert.strictEqual(yield* before.ask("insert into kept values (7) returning id"), `{"rows":[{"id":7}]}`)
      yield* killAll(path)
      assert.isTrue(NodeFs.existsSync(NodePath.join(before.base, "pg18/postmaster.pid")))
      const after = yield* startHolder(dataDir, "durable")
      assert.strictEqual(yield* after.ask("select id from kept"), `{"rows":[{"id":7}]}`)
      assert.strictEqual(
        yield* after.ask("select current_setting('fsync') as fsync, current_setting('listen_addresses') as tcp"),
        `{"rows":[{"fsync":"on","tcp":""}]}`
      )
    }))

  it.live("a server whose postmaster is killed restarts while a process uses it", () =>
    Effect.gen(function*() {
      const path = yield* workplace
      const holder = yield* startHolder(NodePath.join(path, "db"), "durable")
      yield* holder.ask("create table kept as select 7 as id")
      const killed = yield* postmaster(holder.base)
      assert.isDefined(killed)
      NodeProcess.kill(killed, "SIGKILL")
      // A session of the killed server may still answer for a moment, and there is no file between two servers.
      const answer = yield* eventually(
        Effect.zip(holder.ask("select id from kept"), postmaster(holder.base)),
        ([answer, running]) => answer.includes("rows") && running !== undefined && running !== killed,
        longer.start
      )
      assert.strictEqual(answer[0], `{"rows":[{"id":7}]}`)
    }))

  it.live("a server that does not start is reported with the end of its log", () =>
    Effect.gen(function*() {
      const path = yield* workplace
      const dataDir = NodePath.join(path, "db")
      const files = yield* prepareFiles(dataDir, yield* chooseAccount(dataDir), 5432)
      NodeFs.mkdirSync(files.cluster)
      const error = yield* Effect.flip(EmbeddedPostgres.acquire({ dataDir }))
      assert.strictEqual(error.step, "start")
      assert.include(error.message, "could not access the server configuration file")
      assert.match(error.message, /Or set DATABASE_URL to your PostgreSQL server \(14 or newer\)\.$/)
    }))
})

describe("files of an embedded server", () => {
  it.effect("the socket's path fits every system, however long the data directory's path is", () =>
    Effect.gen(function*() {
      const dataDir = NodePath.join(yield* workplace, "long-".repeat(30), "db")
      const files = yield* prepareFiles(dataDir, yield* chooseAccount(dataDir), 5432)
      yield* Effect.addFinalizer(() => Effect.sync(() => NodeFs.rmdirSync(files.socketDirectory)))
      assert.isAtMost(Buffer.byteLength(files.socket), 103)
      assert.strictEqual(NodeFs.statSync(files.socketDirectory).mode & 0o777, 0o700)
    }))

  for (
    const [what, path, reason] of [
      ["a file", "file", "is not a directory"],
      ["below a file", "file/db", "ENOTDIR|is not a directory"],
      ["of the kernel", "/proc/self/db", "/proc/self belongs to the kernel"]
    ] as const
  ) {
    it.effect(`a directory that is ${what} is refused at once, and the error names DATA_DIR`, () =>
      Effect.gen(function*() {
        const place = yield* workplace
        NodeFs.writeFileSync(NodePath.join(place, "file"), "")
        const dataDir = NodePath.resolve(place, path)
        const account = { uid: NodeProcess.getuid?.() ?? 0, gid: NodeProcess.getgid?.() ?? 0, switched: false }
        const { message } = yield* Effect.flip(prepareFiles(dataDir, account, 5432))
        assert.match(message, new RegExp(`^DATA_DIR cannot be used: .*(${reason}).* or set DATABASE_URL to your`))
      }))
  }

  it.effect("a directory that another account created is refused", () =>
    Effect.gen(function*() {
      const dataDir = NodePath.join(yield* workplace, "db")
      NodeFs.mkdirSync(dataDir)
      NodeFs.writeFileSync(NodePath.join(dataDir, "trap"), "")
      const uid = NodeProcess.getuid?.() ?? 0
      const error = yield* Effect.flip(prepareFiles(dataDir, { uid: uid + 1, gid: uid + 1, switched: false }, 5432))
      assert.include(error.message, `belongs to account ${uid}`)
    }))

  it.effect("a lock file of a living process that is not a server is removed, and others are kept", () =>
    Effect.gen(function*() {
      const dataDir = NodePath.join(yield* workplace, "db")
      const files = yield* prepareFiles(dataDir, yield* chooseAccount(dataDir), 5432)
      NodeFs.mkdirSync(files.cluster)
      const lock = NodePath.join(files.cluster, "postmaster.pid")
      NodeFs.writeFileSync(lock, `${NodeProcess.pid}\n`)
      yield* dropStaleLocks(files)
      assert.strictEqual(NodeFs.existsSync(lock), !onLinux)
      NodeFs.writeFileSync(lock, "999999999\n")
      yield* dropStaleLocks(files)
      assert.isTrue(NodeFs.existsSync(lock))
    }))

  it.effect("the log has a bounded length and one predecessor", () =>
    Effect.gen(function*() {
      const log = NodePath.join(yield* workplace, "postgres.log")
      NodeFs.writeFileSync(log, Buffer.alloc(11 * 1024 * 1024))
      boundLog(log)
      assert.deepStrictEqual([NodeFs.statSync(log).size, NodeFs.statSync(`${log}.1`).size], [0, 11 * 1024 * 1024])
    }))
})
