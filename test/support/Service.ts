import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Context, Effect, Layer, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeChildProcess from "node:child_process"
import * as NodeCrypto from "node:crypto"
import * as NodeNet from "node:net"
import * as NodeProcess from "node:process"
import * as NodeReadline from "node:readline"
import * as NodeUrl from "node:url"
import { Agent, type Dispatcher } from "undici"
import { inject } from "vitest"
import { Accounts } from "../../src/accounts/Accounts.ts"
import { Audit } from "../../src/accounts/Audit.ts"
import { Notices } from "../../src/accounts/notices/Notices.ts"
import { ApiKeys } from "../../src/api-keys/ApiKeys.ts"
import { Client } from "../../src/api/Client.ts"
import { EmailAddress } from "../../src/values/EmailAddress.ts"
import type { AccountId } from "../../src/values/Ids.ts"
import type { Permission, Scope as KeyScope } from "../../src/values/Permission.ts"
import type { Plan } from "../../src/values/Plan.ts"
import type { Mode } from "../../src/values/TestMode.ts"
import { Changes } from "./Changes.ts"
import { compiled, sandboxed } from "./cli.ts"
import { TestDatabase } from "./TestDatabase.ts"
import { eventually, longer } from "./waiting.ts"

export { eventually, live } from "./waiting.ts"

/** Options of a node besides the defaults. */
export interface NodeOptions {
  /** Variables added to or replacing those of {@link defaults}; undefined removes one. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Port of an SMTP server on this machine; without one the sandbox takes the mail. */
  readonly smtpPort?: number
}

/** Parts of a request besides method and path. */
export interface RequestOptions {
  /** API key or login token. */
  readonly key?: string | undefined
  /** Sent as JSON. */
  readonly json?: unknown
  /** Sent as it is instead of `json`; the type is JSON unless the headers say otherwise. */
  readonly body?: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
  /** Replaces the node's base URL, for what it serves on another port. */
  readonly origin?: string
}

/** A complete answer. */
export interface Answer {
  readonly status: number
  /** Names in lower case; values of one name are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The body parsed as JSON; undefined if it is not JSON. */
  readonly json: unknown
  /** The value under these keys of the body, such as `at("data", 0, "id")`; undefined if there is none. */
  readonly at: (...path: ReadonlyArray<string | number>) => unknown
}

/** How a process ended. */
export interface ProcessEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A running node: a separate process, with the flags of `npm start`. */
export interface RunningNode {
  /** Without a final slash. */
  readonly baseUrl: string
  readonly port: number
  readonly pid: number
  readonly request: (method: string, path: string, options?: RequestOptions) => Effect.Effect<Answer>
  /** A typed client of the whole API. */
  readonly client: (key?: string) => Effect.Effect<Client["Service"]>
  /** Sends bytes on a new connection and returns everything received until the node closes it. */
  readonly raw: (bytes: string | Uint8Array) => Effect.Effect<string>
  /** Lines of standard error (one JSON object each) and standard output so far. */
  readonly logs: ReadonlyArray<string>
  /** The first log line with this text, once there is one. */
  readonly logged: (text: string, within?: `${number} seconds`) => Effect.Effect<string>
  /** Sends a signal without waiting. */
  readonly signal: (signal: NodeJS.Signals) => Effect.Effect<void>
  /** Stops the node by a signal, SIGTERM by default, and waits until it has exited. */
  readonly stop: (signal?: NodeJS.Signals) => Effect.Effect<ProcessEnd>
  /** Kills the node with SIGKILL and waits until it has exited. */
  readonly kill: Effect.Effect<ProcessEnd>
  readonly ended: Effect.Effect<ProcessEnd>
}

const main = NodeUrl.fileURLToPath(new URL("../../src/main.ts", import.meta.url))

/** Main key of test nodes. */
export const encryptionKey = "dGVzdHMgb25seTogdGhpcyBrZXkgc2VhbHMgbm90aCE="

/** The token of the sandbox's pages in test nodes. */
export const sandboxToken = "token-of-the-sandbox-in-tests"

/** Variables of every test node, which is in production because of its DATABASE_URL. */
const defaults = {
  HOST: "127.0.0.1",
  PORT: "0",
  DATABASE_CONNECTIONS: "10",
  DRAIN_SECONDS: "0",
  ENCRYPTION_KEY: encryptionKey,
  ...sandboxed,
  SANDBOX_TOKEN: sandboxToken,
  REGISTRATION: "open",
  WEBHOOK_ALLOW_LOOPBACK: "true",
  LOG_FORMAT: "json",
  RATE_LIMIT_STARTER: "1000000",
  RATE_LIMIT_GROWTH: "1000000",
  RATE_LIMIT_BUSINESS: "1000000",
  RATE_LIMIT_ENTERPRISE: "1000000",
  RATE_LIMIT_LOGIN: "1000000",
  RATE_LIMIT_PRICING: "1000000",
  RATE_LIMIT_CODE_CHECK: "1000000",
  RATE_LIMIT_PAGES: "1000000"
}

const environment = (databaseUrl: string, { env = {}, smtpPort }: NodeOptions) =>
  Object.fromEntries(
    Object.entries({
      PATH: NodeProcess.env["PATH"],
      ...compiled,
      DATABASE_URL: databaseUrl,
      DNS_SERVERS: inject("nameServer"),
      ...defaults,
      ...(smtpPort !== undefined && { SMTP_URL: `smtp://127.0.0.1:${smtpPort}?tls=never` }),
      ...env
    }).filter(([, value]) => value !== undefined)
  )

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const valueAt = (value: unknown, path: ReadonlyArray<string | number>): unknown =>
  path.reduce<unknown>((at, key) => typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined, value)

const read = async (response: Dispatcher.ResponseData): Promise<Answer> => {
  const text = await response.body.text()
  const json = parsed(text)
  const headers = Object.fromEntries(
    Object.entries(response.headers).map((
      [name, value]
    ) => [name, Array.isArray(value) ? value.join(", ") : `${value}`])
  )
  return { status: response.statusCode, headers, text, json, at: (...path) => valueAt(json, path) }
}

/** The pages of the sandbox need the token. A path that names one keeps it. */
const withToken = (path: string) =>
  path.startsWith("/sandbox/") && !path.includes("token=")
    ? `${path}${path.includes("?") ? "&" : "?"}token=${sandboxToken}`
    : path

const makeRequest = (agent: Agent, baseUrl: string): RunningNode["request"] => (method, path, options = {}) => {
  const body = options.json === undefined ? options.body : JSON.stringify(options.json)
  const headers = {
    ...(body !== undefined && { "content-type": "application/json" }),
    ...(options.key !== undefined && { authorization: `Bearer ${options.key}` }),
    ...options.headers
  }
  return Effect.promise((signal) =>
    agent.request({
      origin: options.origin ?? baseUrl,
      path: withToken(path),
      method: method as Dispatcher.HttpMethod, // any token is sent, known or not
      headers,
      signal,
      ...(body !== undefined && { body })
    }).then(read)
  )
}

const sendRaw = (port: number): RunningNode["raw"] => (bytes) =>
  Effect.callback((resume) => {
    const chunks: Array<Buffer> = []
    const socket = NodeNet.connect(port, "127.0.0.1", () => socket.write(bytes))
    socket.on("data", (chunk) => chunks.push(chunk))
    socket.on("error", () => {})
    socket.on("close", () => resume(Effect.succeed(Buffer.concat(chunks).toString("latin1"))))
    return Effect.sync(() => socket.destroy())
  })

class NodeProcessHandle {
  readonly lines: Array<string> = []
  readonly changes = new Changes(() => ({ end: this.end, lines: this.lines.slice(-10) }))
  readonly child: NodeChildProcess.ChildProcess
  end: ProcessEnd | undefined

  constructor(env: Record<string, string | undefined>) {
    this.child = NodeChildProcess.spawn(NodeProcess.execPath, ["--v8-pool-size=0", main, "serve"], {
      env,
      stdio: ["ignore", "pipe", "pipe"]
    })
    for (const stream of [this.child.stdout, this.child.stderr]) {
      if (stream === null) continue
      NodeReadline.createInterface({ input: stream }).on("line", (line) => {
        this.lines.push(line)
        this.changes.notify()
      })
    }
    // "close" follows the last line of output, "exit" may precede it.
    this.child.once("close", (code, signal) => {
      this.end = { code, signal }
      this.changes.notify()
    })
  }

  readonly ended = Effect.suspend(() =>
    Effect.map(
      this.changes.until(() => this.end !== undefined, longer.start),
      () => this.end ?? { code: null, signal: null }
    )
  )

  readonly logged = (text: string, within?: `${number} seconds`) =>
    this.changes.until(() => this.lines.some((line) => line.includes(text)) || this.end !== undefined, within).pipe(
      Effect.flatMap(() => {
        const line = this.lines.find((logged) => logged.includes(text))
        return line === undefined
          ? Effect.die(new Error(`The node ended before it logged ${text}:\n${this.lines.join("\n")}`))
          : Effect.succeed(line)
      })
    )

  readonly signal = (signal: NodeJS.Signals) => Effect.sync(() => void this.child.kill(signal))

  readonly stop = (signal: NodeJS.Signals = "SIGTERM") => Effect.andThen(this.signal(signal), this.ended)
}

/** Starts a node on the test's database and waits until it accepts requests. It is killed with the scope. */
export const startNode = (options: NodeOptions = {}): Effect.Effect<RunningNode, never, TestDatabase | Scope.Scope> =>
  Effect.gen(function*() {
    const { nodeUrl, url } = yield* TestDatabase
    const handle = yield* Effect.acquireRelease(
      Effect.sync(() => new NodeProcessHandle(environment(nodeUrl ?? url, options))),
      (started) => Effect.andThen(started.signal("SIGCONT"), started.stop("SIGKILL"))
    )
    const port = Number(/listening on [^ ]*?:(\d+) /.exec(yield* handle.logged("listening on ", longer.start))?.[1])
    const baseUrl = `http://127.0.0.1:${port}`
    const agent = yield* Effect.acquireRelease(
      Effect.sync(() => new Agent({ connections: 128, bodyTimeout: 60_000, headersTimeout: 60_000 })),
      (opened) => Effect.promise(() => opened.destroy())
    )
    const request = makeRequest(agent, baseUrl)
    const scope = yield* Effect.scope
    const http = yield* Layer.build(NodeHttpClient.layerUndici)
    yield* eventually(request("GET", "/health/ready"), ({ status }) => status === 200, longer.start)
    return {
      baseUrl,
      port,
      pid: handle.child.pid ?? 0,
      request,
      client: (key) =>
        Layer.build(Client.layer({ baseUrl, ...(key !== undefined && { apiKey: Redacted.make(key) }) })).pipe(
          Effect.map(Context.get(Client)),
          Effect.provide(http),
          Scope.provide(scope)
        ),
      raw: sendRaw(port),
      logs: handle.lines,
      logged: handle.logged,
      signal: handle.signal,
      stop: handle.stop,
      kill: handle.stop("SIGKILL"),
      ended: handle.ended
    }
  })

/**
 * One node for a test file, on a new database: `layer(Service.layer())("…", (it) => …)` gives the tests this service,
 * `SqlClient`, `PgClient` and `TestDatabase`, so that they can start more nodes on the same database.
 */
export class Service extends Context.Service<Service, RunningNode>()("messaging-service/test/support/Service") {
  static readonly layer = (options: NodeOptions = {}) =>
    Layer.effect(Service, startNode(options)).pipe(Layer.provideMerge(TestDatabase.layer))
}

/** Waits until 10 seconds of the database's minute are left, because rates are counted by that minute. */
export const earlyInTheMinute = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    eventually(sql`select extract(second from now()) < 30 as early`, ([row]) => row?.["early"] === true, longer.turn)
)

export interface AccountOptions {
  /** Enterprise by default, which has no limits. */
  readonly plan?: Plan
  /** Whether it is in its 3 days of trial. */
  readonly trial?: boolean
  readonly email?: string
  readonly password?: string
}

export interface KeyOptions {
  readonly scopes?: ReadonlyArray<KeyScope>
  readonly permissions?: ReadonlyArray<Permission>
  readonly mode?: Mode
}

/** Creates an API key regardless of the plan's limit and returns its secret. */
export const makeKey = (accountId: AccountId, { mode = "live", permissions = [], scopes = [] }: KeyOptions = {}) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const keys = yield* ApiKeys
    const [row] = yield* sql`select plan from accounts where id = ${accountId}`
    yield* sql`update accounts set plan = 'enterprise' where id = ${accountId}`
    const { id, key } = yield* keys.create(accountId, { name: "Test", scopes, permissions, mode })
    yield* sql`update accounts set plan = ${String(row?.["plan"])} where id = ${accountId}`
    return { id, key }
  }).pipe(Effect.provide(ApiKeys.layer.pipe(Layer.provide([Audit.layer, Notices.layer]))), Effect.orDie)

/** Creates an account with an API key of full access, directly in the database. */
export const makeAccount = ({ email, password, plan = "enterprise", trial = false }: AccountOptions = {}) =>
  Effect.gen(function*() {
    const accounts = yield* Accounts
    const account = yield* accounts.create({
      name: "Test",
      email: EmailAddress.make(email ?? `${NodeCrypto.randomBytes(8).toString("hex")}@example.com`),
      plan,
      trial,
      ...(password !== undefined && { password: Redacted.make(password) })
    })
    const { id, key } = yield* makeKey(account.id)
    return { accountId: account.id, email: account.email, keyId: id, key }
  }).pipe(Effect.provide(Accounts.layer.pipe(Layer.provide(Audit.layer))), Effect.orDie)
