/**
 * Compares this version with another one, whose checkout with its packages BENCH_BASE names. Both run at once, each with
 * separate databases and peers, and take turns, so that a slow moment of the machine hits both. The bench prints the
 * medians of the ratios of the turns: of work per second, and of work per processor time of the node, which other
 * programs of the machine disturb less. BENCH_LOADS names some of the loads, separated by commas. BENCH_OURS names another
 * checkout than this one.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Config, Effect, Layer } from "effect"
import * as NodePath from "node:path"
import { remoteControls } from "../../src/sandbox/whatsapp/control/ControlClient.ts"
import { ApiKeyId } from "../../src/values/Ids.ts"
import { domain, send, verifyDomain } from "./support/bulkLoad.ts"
import { cpuOf } from "./support/cpuTime.ts"
import { loadOf } from "./support/keyLoad.ts"
import { connections } from "./support/mail.ts"
import { startRelay } from "./support/relay.ts"
import { runScript } from "./support/script.ts"
import { type BenchDatabase, client, createAccount, startDatabase, startService, vault } from "./support/service.ts"
import type { SlowSmsc } from "./support/slowSmsc.ts"
import { submits } from "./support/smsLoad.ts"
import { type Line, median, printTable } from "./support/table.ts"
import { startNode, startSinks } from "./support/webhookPeers.ts"
import { sessionsOf, startWhatsApp, unpaced } from "./support/whatsAppSessions.ts"

/** Two processes of one version differ by some percent for as long as they run, so both versions start several times. */
const starts = 4
const turns = 6
const batches = 8
const from = `news@${domain}`
const webhooks = 8
const events = 24_000
/** Three quarters of what the actors of eight webhooks may hold in memory. */
const unanswered = 3_000

/** Work per second of a load, and the microseconds of processor time of a process meanwhile. */
const measured = <E, R>(pid: number, load: Effect.Effect<number, E, R>) =>
  Effect.gen(function*() {
    const before = cpuOf(pid)
    const perSecond = yield* load
    return { perSecond, cpu: cpuOf(pid) - before }
  })

/** A node without its HTTP server, and the deliveries that it sends. */
const startDeliveries = Effect.fnUntraced(function*(checkout: string) {
  const { hello: { ports } } = yield* startSinks({ count: webhooks })
  const script = NodePath.join(checkout, "scripts/bench/support/webhookNode.ts")
  const node = yield* startNode(yield* startDatabase, { script })
  const { targets = [] } = yield* node.ask({ ask: "listen", ports })
  return {
    webhooks: measured(
      node.pid,
      Effect.map(node.ask({ ask: "deliver", targets, count: events, unanswered }), ({ perSecond = 0 }) => perSecond)
    )
  }
})

/** An account with eight keys. */
const makeKeys = Effect.fnUntraced(function*(main: string, database: BenchDatabase, port: number) {
  const { accountId, key } = yield* createAccount(main, database)
  const makeKey = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/api-keys`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "Bench" })
    })
    const { data }: { data: { id: number; key: string } } = JSON.parse(await answer.text())
    return { accountId, keyId: ApiKeyId.make(data.id), key: data.key }
  }
  return yield* Effect.promise(() => Promise.all(Array.from({ length: 8 }, makeKey)))
})

/** A version with what it needs, and its loads. */
const start = Effect.fnUntraced(function*(checkout: string) {
  const main = NodePath.join(checkout, "src/main.ts")
  const database = yield* startDatabase
  const services = yield* Layer.build(Layer.merge(client(database), vault))
  const relay = yield* startRelay()
  const smsc = yield* runScript<{ port: number }>("slowSmsc.ts", { afterMillis: 1 } satisfies SlowSmsc)
  const whatsApp = yield* startWhatsApp
  const { child, port } = yield* startService(database, {
    env: {
      SMTP_URL: `smtp://127.0.0.1:${relay.port}?tls=never`,
      SMTP_CONNECTIONS: String(connections + 1),
      SMS_PROVIDER: "smpp",
      SMPP_URL: `smpp://bench:bench@127.0.0.1:${smsc.port}`,
      SMPP_WINDOW: "50",
      SMPP_MAX_PER_SECOND: "100000",
      WHATSAPP_URL: `ws://127.0.0.1:${whatsApp.hello.port}/ws/chat`,
      ...unpaced
    },
    main
  })
  const owners = yield* makeKeys(main, database, port)
  const [account] = owners
  if (account === undefined) return yield* Effect.die("no key")
  yield* verifyDomain(account).pipe(Effect.provide(services))
  const controls = remoteControls(`http://127.0.0.1:${whatsApp.hello.port}`)
  const sessions = yield* sessionsOf({ port, key: account.key, controls }).pipe(Effect.provide(services))
  yield* sessions.pair(1)
  const { pid = 0 } = child
  const requests = (method: "GET" | "POST") =>
    measured(pid, Effect.map(loadOf(owners, method)(port, ""), ({ perSecond }) => perSecond))
  const mails = (mail: { readonly from?: string }) =>
    measured(pid, send(port, account, { count: batches, ...mail }).pipe(Effect.provide(services)))
  return {
    GET: requests("GET"),
    POST: requests("POST"),
    unsigned: mails({}),
    signed: mails({ from }),
    ...yield* startDeliveries(checkout),
    sms: measured(pid, submits(port, account.key).pipe(Effect.provide(services))),
    whatsapp: measured(pid, sessions.send)
  }
})

type Version = Effect.Success<ReturnType<typeof start>>

const metrics: Readonly<Record<keyof Version, string>> = {
  GET: "GET /v1/api-keys/{id}, requests/s",
  POST: "POST /v1/api-keys, requests/s",
  unsigned: "unsigned bulk mail, mails/s",
  signed: "signed bulk mail, mails/s",
  webhooks: "durable deliveries/s",
  sms: "SMPP submits/s",
  whatsapp: "WhatsApp texts/s"
}

/** Loads that run for a fixed time. All others do a fixed amount of work. */
const timed: ReadonlyArray<keyof Version> = ["GET", "POST"]

/** The turns of a load while both versions run. */
const compare = (ours: Version, base: Version, load: keyof Version) =>
  Effect.gen(function*() {
    const both = (turn: number) =>
      turn % 2 === 0
        ? Effect.all({ ours: ours[load], base: base[load] })
        : Effect.all({ base: base[load], ours: ours[load] })
    yield* both(0)
    return yield* Effect.forEach(Array.from({ length: turns }, (_, turn) => turn), both)
  })

type Turn = Effect.Success<ReturnType<typeof compare>>[number]

const linesOf = (load: keyof Version, all: ReadonlyArray<Turn>): ReadonlyArray<Line> => {
  const line = (metric: string, valueOf: (measured: Turn["ours"]) => number): Line => ({
    metric,
    value: median(all.map(({ ours }) => valueOf(ours))),
    limit: { name: "the other version", value: median(all.map(({ base }) => valueOf(base))) },
    ratio: median(all.map(({ base, ours }) => valueOf(ours) / valueOf(base)))
  })
  return [
    line(metrics[load], ({ perSecond }) => perSecond),
    line("per second of the node's CPU", ({ cpu, perSecond }) => 1e6 * (timed.includes(load) ? perSecond : 1) / cpu)
  ]
}

const bench = Effect.gen(function*() {
  const checkout = yield* Config.String("BENCH_BASE")
  const compared = yield* Config.String("BENCH_OURS").pipe(
    Config.withDefault(NodePath.join(import.meta.dirname, "../.."))
  )
  const named = yield* Config.String("BENCH_LOADS").pipe(Config.withDefault(Object.keys(metrics).join()))
  // `metrics` has the keys of a version.
  const loads = (Object.keys(metrics) as Array<keyof Version>).filter((load) => named.split(",").includes(load))
  const started = Effect.scoped(Effect.gen(function*() {
    const base = yield* start(NodePath.resolve(checkout))
    const ours = yield* start(NodePath.resolve(compared))
    return yield* Effect.forEach(loads, (load) => compare(ours, base, load))
  }))
  const all = yield* Effect.forEach(Array.from({ length: starts }), () => started)
  const lines = loads.flatMap((load, index) => linesOf(load, all.flatMap((turnsOf) => turnsOf[index] ?? [])))
  yield* printTable(`pair: median of ${starts * turns} turns, ${starts} starts`, lines)
})

NodeRuntime.runMain(bench)
