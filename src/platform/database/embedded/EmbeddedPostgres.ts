/**
 * PostgreSQL 18 from node_modules, shared by all processes of this machine that use the same data directory.
 *
 * The first process starts the server and the others join it. It stops when the last process ends, even by SIGKILL.
 * Committed rows survive a SIGKILL of everything. The server listens on a unix socket only, in a directory of mode 700:
 * no port, no password. It needs Linux with glibc or macOS, and a local disk. Elsewhere, set DATABASE_URL.
 */
import { Clock, Duration, Effect, Schedule } from "effect"
import * as NodePath from "node:path"
import { chooseAccount, type EmbeddedAccount } from "./EmbeddedAccount.ts"
import { locateBinaries } from "./EmbeddedBinaries.ts"
import { type EmbeddedFiles, prepareFiles } from "./EmbeddedFiles.ts"
import { dropStaleLocks, holdLease, type StartedServer, startServer, touchLease } from "./EmbeddedLease.ts"
import { boundLog, logLength, logSince } from "./EmbeddedLog.ts"
import { EmbeddedPostgresUnavailable } from "./EmbeddedPostgresUnavailable.ts"
import { openSession } from "./EmbeddedSession.ts"
import { installOnce, removeAbandoned } from "./installOnce.ts"
import { runProgram } from "./runProgram.ts"

export interface Options {
  /** The files are here, or in /var/lib/embedded-postgres-… if root's server account cannot reach this directory. */
  readonly dataDir: string
  /** For disposable servers: false skips fsync, and a killed server loses its last commits. */
  readonly durable?: boolean
  /** For disposable servers: also listens on this port of 127.0.0.1, open to every user of this machine. */
  readonly port?: number
  /** For disposable servers: settings of PostgreSQL beside those of every server. */
  readonly settings?: Readonly<Record<string, string>>
}

const defaultPort = 5432

/** What a client needs to connect as the user `postgres`. */
export interface Server {
  readonly socket: string
  /** The directory with the files. Tests must remove it. */
  readonly base: string
  /** The directory of `postgres` and `initdb`. */
  readonly bin: string
}

interface Installation {
  readonly files: EmbeddedFiles
  readonly account: EmbeddedAccount
  readonly command: ReadonlyArray<string>
}

/**
 * Starts the server or joins the running one, and uses it until the scope closes. If the server dies meanwhile, it
 * restarts at once; queries in flight fail and pools reconnect.
 */
export const acquire = Effect.fn("EmbeddedPostgres.acquire")(function*(options: Options) {
  const dataDir = NodePath.resolve(options.dataDir)
  const durable = options.durable ?? true
  const account = yield* chooseAccount(dataDir)
  const files = yield* prepareFiles(dataDir, account, options.port ?? defaultPort)
  const bin = yield* locateBinaries(files.base, account)
  yield* holdLease(files.lease, account)
  yield* initialise(NodePath.join(bin, "initdb"), { files, account, durable })
  const installation = { files, account, command: commandOf(NodePath.join(bin, "postgres"), files, options) }
  yield* maintain(files)
  yield* ensureRunning(installation)
  yield* Effect.forkScoped(watch(installation))
  return { socket: files.socket, base: files.base, bin } satisfies Server
})

const initdbOptions =
  "--username=postgres --auth=trust --encoding=UTF8 --locale=C --locale-provider=builtin --builtin-locale=C.UTF-8"
    .split(" ")

const initialise = (
  initdb: string,
  target: { readonly files: EmbeddedFiles; readonly account: EmbeddedAccount; readonly durable: boolean }
) => {
  const options = target.durable ? initdbOptions : [...initdbOptions, "--no-sync"]
  return EmbeddedPostgresUnavailable.attempt(
    "initdb",
    () =>
      installOnce(
        target.files.cluster,
        (directory) => runProgram(target.account, initdb, ["--no-instructions", "--pgdata", directory, ...options])
      )
  )
}

/**
 * Durability, WAL and vacuum keep PostgreSQL's defaults. log_min_messages "log" omits statement errors: the client
 * receives them anyway, and they quote values such as addresses.
 */
const commandOf = (postgres: string, files: EmbeddedFiles, { durable = true, port, settings }: Options) => {
  const all: Record<string, string> = {
    listen_addresses: port === undefined ? "" : "127.0.0.1",
    unix_socket_directories: files.socketDirectory,
    unix_socket_permissions: "0700",
    port: `${port ?? defaultPort}`,
    max_connections: "200",
    shared_buffers: "128MB",
    io_method: "sync",
    max_logical_replication_workers: "0",
    timezone: "UTC",
    log_timezone: "UTC",
    log_min_messages: "log",
    log_checkpoints: "off",
    ...(durable ? {} : { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }),
    ...settings
  }
  return [
    postgres,
    "-D",
    files.cluster,
    ...Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`])
  ]
}

const maxStarts = 8
const shortPause = Duration.millis(40)
const longPause = Duration.millis(500)
/** Recovery after a crash replays at most a few gigabytes of WAL. */
const startTimeout = Duration.minutes(10)

/**
 * Returns when the server accepts sessions. Starts it if no server answers, repeatedly while another server shuts down.
 */
const ensureRunning = Effect.fn("EmbeddedPostgres.ensureRunning")(function*(installation: Installation) {
  const { files } = installation
  let logged = logLength(files.log)
  const deadline = (yield* Clock.currentTimeMillis) + Duration.toMillis(startTimeout)
  let started: StartedServer | undefined
  let starts = 0
  while (true) {
    const { state } = yield* Effect.scoped(openSession(files.socket))
    if (state === "ready") return
    const mayStart = state === "down" && (started === undefined || started.hasEnded())
    if (mayStart && starts === maxStarts) return yield* cannotStart(files, logged)
    if ((yield* Clock.currentTimeMillis) > deadline) return yield* cannotStart(files, logged)
    if (mayStart) {
      logged = logLength(files.log)
      started = yield* start(installation)
      starts++
    }
    // A server that ended at once lost against another one. That one's files or memory are free only after it has
    // ended.
    yield* Effect.sleep(mayStart && starts > 2 ? longPause : shortPause)
  }
})

const start = ({ account, command, files }: Installation) =>
  dropStaleLocks(files).pipe(Effect.andThen(startServer(files, account, command)))

const cannotStart = (files: EmbeddedFiles, logged: number) =>
  EmbeddedPostgresUnavailable.attempt("start", () => logSince(files.log, logged)).pipe(
    Effect.flatMap((lines) =>
      new EmbeddedPostgresUnavailable({
        step: "start",
        reason: `the server in ${files.cluster} does not start. ${files.log} ends with:\n${lines}\n`
      })
    )
  )

/**
 * A session ends at the moment the server does. Each process that notices tries to start it again. The pause is for a
 * full server, which refuses this session too.
 */
const watch = (installation: Installation) =>
  Effect.scoped(
    Effect.gen(function*() {
      const session = yield* openSession(installation.files.socket)
      if (session.state === "ready") yield* session.closed
    })
  ).pipe(
    Effect.andThen(ensureRunning(installation)),
    Effect.andThen(Effect.sleep("1 second")),
    Effect.catchTag("EmbeddedPostgresUnavailable", (error) =>
      Effect.logError(error.message).pipe(Effect.andThen(Effect.sleep("5 seconds")))),
    Effect.forever
  )

/** Runs hourly, because cleaners of /tmp remove files that were untouched for days. A failure is harmless. */
const maintain = (files: EmbeddedFiles) =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    yield* EmbeddedPostgresUnavailable.attempt("directories", () => {
      boundLog(files.log)
      removeAbandoned(files.base, now)
      touchLease(files.lease, now)
    })
  }).pipe(Effect.ignore, Effect.repeat(Schedule.spaced("1 hour")), Effect.forkScoped)
