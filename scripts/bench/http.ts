/**
 * Measures the front of the whole service: a GET that reads rows, a POST that inserts one, the public price list and the
 * liveness check. Each request with a key looks the key up and counts against its limit. Compared with the same endpoints,
 * hand-written with Fastify and postgres.js, without and with a counted limit; the POST and the liveness check also with
 * endpoints of the library and nothing around them. All use one durable PostgreSQL and take turns in each round. Before the
 * first turn of a request, its servers answer 16 connections for some seconds, so that V8 has compiled what each request runs.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"
import type { Load, Loaded } from "./support/httpLoad.ts"
import { runScript } from "./support/script.ts"
import { makeAccounts, postmasterOf, startDatabase, startService } from "./support/service.ts"
import { type Line, median, printTable } from "./support/table.ts"

const rounds = Number(process.env["BENCH_ROUNDS"] ?? 5)
const seconds = 1.5
const accounts = 8
/** After a shorter time, V8 still compiles while one connection is measured. */
const warmUp = { connections: 16, seconds: 15 }

interface Server {
  readonly port: number
  readonly pid: number
}

interface Options {
  readonly connections: number
  readonly seconds: number
  readonly prefix?: string
}

const template = JSON.stringify({
  name: "Receipt",
  subject: "Your receipt, {{name}}",
  html: "<p>Dear {{name}}, you paid {{amount}}.</p>"
})

const requests = {
  keys: { name: "GET /v1/api-keys", method: "GET", path: "/v1/api-keys", body: "" },
  template: { name: "POST /v1/email/templates", method: "POST", path: "/v1/email/templates", body: template },
  prices: { name: "GET /v1/sms/pricing", method: "GET", path: "/v1/sms/pricing", body: "" },
  live: { name: "GET /health/live", method: "GET", path: "/health/live", body: "" }
} as const

type RequestName = keyof typeof requests

const env = {
  RATE_LIMIT_PRICING: "1000000",
  TEMPLATE_LIMIT_ENTERPRISE: "unlimited"
}

const start = Effect.gen(function*() {
  const database = yield* startDatabase
  const { child, port } = yield* startService(database, { env })
  const callers = yield* makeAccounts(database, accounts)
  const postmaster = postmasterOf(database)
  const measure = (server: Server, name: RequestName, options: Options) => {
    const { body, method, path } = requests[name]
    const load: Load = {
      port: server.port,
      method,
      body,
      callers: callers.map(({ key }) => ({ key, path: `${options.prefix ?? ""}${path}` })),
      connections: options.connections,
      warmUpSeconds: 0.5,
      seconds: options.seconds,
      processes: { server: server.pid, postmaster }
    }
    return Effect.scoped(runScript<Loaded>("httpLoad.ts", load))
  }
  return {
    measure,
    ours: { port, pid: child.pid ?? 0 },
    fastify: yield* runScript<Server>("fastifyServer.ts", { socket: database.socket }),
    bare: yield* runScript<Server>("bareHttpApi.ts", { socket: database.socket })
  }
})

type Setup = Effect.Success<typeof start>

interface Turn {
  readonly ours: Loaded
  readonly theirs: ReadonlyArray<Loaded>
}

interface Peer {
  readonly name: string
  readonly server: (setup: Setup) => Server
  readonly prefix?: string
}

const plain: Peer = { name: "Fastify + postgres.js", server: ({ fastify }) => fastify }
const counted: Peer = { name: "the same with a counted limit", server: ({ fastify }) => fastify, prefix: "/counted" }
const bare: Peer = { name: "a bare HttpApi", server: ({ bare }) => bare }

const peers: Readonly<Record<RequestName, ReadonlyArray<Peer>>> = {
  keys: [plain, counted],
  template: [plain, counted, { ...bare, name: "a bare HttpApi, the same statements" }],
  prices: [{ ...plain, name: "Fastify, the same bytes" }],
  live: [bare]
}

const loads = (setup: Setup, name: RequestName, options: { connections: number; seconds: number }) => ({
  ours: setup.measure(setup.ours, name, options),
  theirs: Effect.forEach(
    peers[name],
    ({ prefix = "", server }) => setup.measure(server(setup), name, { ...options, prefix })
  )
})

/** Compares one request at a number of connections. The order changes with the turn. */
const compare = Effect.fnUntraced(function*(setup: Setup, name: RequestName, connections: number) {
  const turn = (index: number) =>
    Effect.gen(function*() {
      const { ours, theirs } = loads(setup, name, { connections, seconds })
      const both: Turn = index % 2 === 0
        ? yield* Effect.all({ ours, theirs })
        : yield* Effect.all({ theirs, ours })
      return both
    })
  const turns = yield* Effect.forEach(Array.from({ length: rounds }, (_, index) => index), turn)
  return linesOf(name, connections, turns)
})

const linesOf = (name: RequestName, connections: number, turns: ReadonlyArray<Turn>): ReadonlyArray<Line> =>
  peers[name].flatMap((peer, index) => {
    const line = (metric: string, read: (loaded: Loaded) => number): Line => {
      const pairs = turns.flatMap(({ ours, theirs }) => {
        const other = theirs[index]
        return other === undefined ? [] : [{ ours: read(ours), theirs: read(other) }]
      })
      return {
        metric: `${requests[name].name}, ${connections}: ${metric}`,
        value: median(pairs.map(({ ours }) => ours)),
        limit: { name: peer.name, value: median(pairs.map(({ theirs }) => theirs)) },
        ratio: median(pairs.map(({ ours, theirs }) => ours / theirs))
      }
    }
    return [
      line("requests/s", ({ perSecond }) => perSecond),
      line("p99, ms", ({ p99 }) => p99),
      line("CPU of the process, µs", ({ serverCpu }) => serverCpu),
      ...(name === "live" || name === "prices" ? [] : [line("CPU of PostgreSQL, µs", ({ databaseCpu }) => databaseCpu)])
    ]
  })

const wanted = process.env["BENCH_REQUESTS"]?.split(",")

const bench = Effect.gen(function*() {
  const setup = yield* start
  for (const name of ["keys", "template", "prices", "live"] as const) {
    if (wanted !== undefined && !wanted.includes(name)) continue
    yield* Effect.all(loads(setup, name, warmUp))
    const lines = yield* Effect.forEach([1, 16, 64], (connections) => compare(setup, name, connections))
    yield* printTable(`http: ${accounts} keys, median of ${rounds} turns of ${seconds} s`, lines.flat())
  }
})

NodeRuntime.runMain(Effect.scoped(bench))
