import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted, Schedule } from "effect"
import { execFile } from "node:child_process"
import * as NodeFs from "node:fs"
import * as NodeOs from "node:os"
import * as NodePath from "node:path"
import { promisify } from "node:util"
import { Accounts } from "../../../src/accounts/Accounts.ts"
import { Audit } from "../../../src/accounts/Audit.ts"
import { Notices } from "../../../src/accounts/notices/Notices.ts"
import { ApiKeys } from "../../../src/api-keys/ApiKeys.ts"
import { Vault } from "../../../src/platform/crypto/Vault.ts"
import { Database } from "../../../src/platform/database/Database.ts"
import * as EmbeddedPostgres from "../../../src/platform/database/embedded/EmbeddedPostgres.ts"
import * as PgCodecs from "../../../src/platform/database/PgCodecs.ts"
import { EmailAddress } from "../../../src/values/EmailAddress.ts"
import { AccountId } from "../../../src/values/Ids.ts"
import { awaitLine, spawn } from "./script.ts"

/** The key of secrets that a bench inserts and the service opens. */
const mainKey = Buffer.from("benches only: nothing is secret.")

/** A durable PostgreSQL for all compared programs. The scope removes it and its directory. */
export const startDatabase = Effect.gen(function*() {
  const directory = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const path = NodeFs.mkdtempSync(NodePath.join(NodeOs.tmpdir(), "messaging-bench-"))
      // If root runs this, the server's account must be able to enter the directory.
      NodeFs.chmodSync(path, 0o711)
      return path
    }),
    removeWhenStopped
  )
  const { socket } = yield* EmbeddedPostgres.acquire({ dataDir: NodePath.join(directory, "db") })
  return { directory, socket }
})

/** The server writes until it has shut down, shortly after its last user. */
const removeWhenStopped = (directory: string) =>
  Effect.sync(() => NodeFs.existsSync(NodePath.join(directory, "db/pg18/postmaster.pid"))).pipe(
    Effect.repeat({ while: (runs) => runs, schedule: Schedule.spaced("20 millis") }),
    Effect.timeoutOption("10 seconds"),
    Effect.andThen(Effect.sync(() => NodeFs.rmSync(directory, { recursive: true, force: true })))
  )

/** The database of the benches and of the programs that they compare with. */
export interface BenchDatabase {
  readonly directory: string
  readonly socket: string
}

/** The process of PostgreSQL: its lock of a socket begins with the id. */
export const postmasterOf = ({ socket }: BenchDatabase) =>
  Number(NodeFs.readFileSync(`${socket}.lock`, "utf8").split("\n")[0])

const main = NodePath.join(import.meta.dirname, "../../../src/main.ts")

export interface ServiceOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly nodeOptions?: ReadonlyArray<string>
  /** The program of another version. */
  readonly main?: string
}

/** The settings of a node on this database. */
export const environment = ({ directory }: BenchDatabase) => ({
  PATH: process.env["PATH"],
  HOST: "127.0.0.1",
  PORT: "0",
  DATA_DIR: directory,
  ENCRYPTION_KEY: mainKey.toString("base64"),
  LOG_FORMAT: "pretty",
  LOG_LEVEL: "info",
  RATE_LIMIT_ENTERPRISE: "1000000"
})

const profiles = process.env["BENCH_PROFILE"]

/** With BENCH_PROFILE a node leaves a CPU profile in that directory when it ends. */
export const profiling = profiles === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profiles}`]

/** The whole service in a separate process, as `npm start` runs it. */
export const startService = Effect.fnUntraced(function*(database: BenchDatabase, options: ServiceOptions = {}) {
  const child = yield* spawn([
    "--v8-pool-size=0",
    ...profiling,
    ...options.nodeOptions ?? [],
    options.main ?? main,
    "serve"
  ], {
    env: { ...environment(database), ...options.env },
    stdio: ["ignore", "ignore", "pipe", "ipc"]
  })
  if (child.stderr === null) return yield* Effect.die("no standard error")
  const port = yield* awaitLine(child.stderr, (line) => /listening on http:\/\/[^:]+:(\d+)/.exec(line)?.[1])
  // Later output is an error, and a bench without the service cannot continue.
  child.stderr.pipe(process.stderr)
  child.once("exit", (code, signal) => {
    if (!child.killed) throw new Error(`the service ended (${code ?? signal})`)
  })
  return { child, port: Number(port) }
})

/** A database client with the service's codecs, for preparing and counting rows. */
export const client = ({ socket }: BenchDatabase) =>
  Database.fromClient.pipe(
    Layer.provideMerge(
      PgClient.layer({ path: socket, username: "postgres", types: PgCodecs.registry, maxConnections: 2 })
    )
  )

/** Accounts of the enterprise plan, each with one key. Needs a database that a service has migrated. */
export const makeAccounts = Effect.fnUntraced(function*(database: BenchDatabase, count: number) {
  return yield* Effect.gen(function*() {
    const accounts = yield* Accounts
    const keys = yield* ApiKeys
    return yield* Effect.forEach(Array.from({ length: count }, (_, index) => index), (index) =>
      Effect.gen(function*() {
        const email = EmailAddress.make(`owner${index}@bench.example`)
        const account = yield* accounts.create({ name: "Bench", email, plan: "enterprise", trial: false })
        const { id: keyId, key } = yield* keys.create(account.id, { name: "Bench" })
        return { accountId: account.id, keyId, key }
      }))
  }).pipe(
    Effect.provide(
      Layer.merge(Accounts.layer, ApiKeys.layer).pipe(
        Layer.provide([Audit.layer, Notices.layer]),
        Layer.provide(client(database))
      )
    )
  )
})

/** An account of the enterprise plan with one key. The version makes it, because its tables may differ from ours. */
export const createAccount = (main: string, database: BenchDatabase) =>
  Effect.promise(async () => {
    const words = ["create", "--name=Bench", "--email=owner@bench.example", "--plan=enterprise", "--json"]
    const { stdout } = await promisify(execFile)(process.execPath, [main, "account", ...words], {
      env: environment(database)
    })
    const { account_id, api_key }: { account_id: number; api_key: string } = JSON.parse(stdout)
    return { accountId: AccountId.make(account_id), key: api_key }
  })

/** The vault of the services that {@link startService} starts. */
export const vault = Vault.layer(Redacted.make(new Uint8Array(mainKey)))
