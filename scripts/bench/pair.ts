/**
 * Compares this version with another one, whose checkout with its packages BENCH_BASE names. Both services run at once,
 * each with a separate database and relay, and take turns, so that a slow moment of the machine hits both. The bench
 * prints the median of the ratios of the turns.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer } from "effect"
import * as NodePath from "node:path"
import { domain, send, verifyDomain } from "./support/bulkLoad.ts"
import { loadOf } from "./support/keyLoad.ts"
import { connections } from "./support/mail.ts"
import { startRelay } from "./support/relay.ts"
import { client, makeAccounts, startDatabase, startService, vault } from "./support/service.ts"
import { type Line, median, printTable } from "./support/table.ts"

const turns = 14
const batches = 8
const from = `news@${domain}`

/** A version with what it needs, and its loads; each answers work per second. */
const start = Effect.fnUntraced(function*(main?: string) {
  const database = yield* startDatabase
  const services = yield* Layer.build(Layer.merge(client(database), vault))
  const { port: relay } = yield* startRelay()
  const env = { SMTP_URL: `smtp://127.0.0.1:${relay}?tls=never`, SMTP_CONNECTIONS: String(connections + 1) }
  const { port } = yield* startService(database, { env, ...(main !== undefined && { main }) })
  const owners = yield* makeAccounts(database, 8).pipe(Effect.provide(services))
  const [account] = owners
  if (account === undefined) return yield* Effect.die("no account")
  yield* verifyDomain(account).pipe(Effect.provide(services))
  const requests = (method: "GET" | "POST") =>
    Effect.map(loadOf(owners, method)(port, ""), ({ perSecond }) => perSecond)
  return {
    GET: requests("GET"),
    POST: requests("POST"),
    unsigned: send(port, account, { count: batches }).pipe(Effect.provide(services)),
    signed: send(port, account, { count: batches, from }).pipe(Effect.provide(services))
  }
})

type Version = Effect.Success<ReturnType<typeof start>>

const metrics: Readonly<Record<keyof Version, string>> = {
  GET: "GET /v1/api-keys/{id}, requests/s",
  POST: "POST /v1/api-keys, requests/s",
  unsigned: "unsigned bulk mail, mails/s",
  signed: "signed bulk mail, mails/s"
}

const compare = Effect.fnUntraced(function*(ours: Version, base: Version, load: keyof Version) {
  const both = (turn: number) =>
    turn % 2 === 0
      ? Effect.all({ ours: ours[load], base: base[load] })
      : Effect.all({ base: base[load], ours: ours[load] })
  yield* both(0)
  const all = yield* Effect.forEach(Array.from({ length: turns }, (_, turn) => turn), both)
  const line: Line = {
    metric: metrics[load],
    value: median(all.map(({ ours }) => ours)),
    limit: { name: "the other version", value: median(all.map(({ base }) => base)) },
    ratio: median(all.map(({ base, ours }) => ours / base))
  }
  return line
})

const bench = Effect.gen(function*() {
  const checkout = process.env["BENCH_BASE"]
  if (checkout === undefined) return yield* Effect.die("set BENCH_BASE to a checkout of the version to compare with")
  const base = yield* start(NodePath.resolve(checkout, "src/main.ts"))
  const ours = yield* start()
  const lines = yield* Effect.forEach(
    ["GET", "POST", "unsigned", "signed"] as const,
    (load) => compare(ours, base, load)
  )
  yield* printTable(`pair: median of ${turns} turns`, lines)
})

NodeRuntime.runMain(Effect.scoped(bench))
