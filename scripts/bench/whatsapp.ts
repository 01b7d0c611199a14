/**
 * Measures WhatsApp: texts per second from the first accepted request to the last acknowledgement, without pacing; the
 * memory of an idle connected session; and the time until all sessions are connected after a restart of the server.
 * Each is compared with the bare library and credentials in memory. Both have a simulated WhatsApp. BENCH_SESSIONS is
 * the number of sessions, by default 300.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Config, Context, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as NodePath from "node:path"
import { remoteControls } from "../../src/sandbox/whatsapp/control/ControlClient.ts"
import type { Memory } from "./support/memory.ts"
import type { MemoryQuestion } from "./support/memoryAnswers.ts"
import { questionsTo, startPeer } from "./support/peer.ts"
import { client, makeAccounts, profiling, startDatabase, startService } from "./support/service.ts"
import { median, printTable } from "./support/table.ts"
import type { LoopAnswer, LoopOrder, WhatsAppLoop } from "./support/whatsAppLoop.ts"
import type { WhatsAppCount, WhatsAppOrder } from "./support/whatsAppServer.ts"
import { people, sessionsOf, startWhatsApp, texts, unpaced } from "./support/whatsAppSessions.ts"

const rounds = 5
/** Rounds of texts that do not count: a node runs for weeks with optimised code. */
const warmUp = 3
/** Sessions before the measurement of memory, so that caches and database connections are filled. */
const warm = 5
/** The first pause before a reconnect: the loop's, and the service's longest with jitter. */
const firstPause = { bare: 1, ours: 1.2 }

const memoryAnswers = NodePath.join(import.meta.dirname, "support/memoryAnswers.ts")

/** The figures of one subject. */
interface Subject {
  readonly pair: (count: number) => Effect.Effect<void>
  readonly send: Effect.Effect<number>
  readonly memory: Effect.Effect<Memory>
  /** Seconds until all sessions are connected again. */
  readonly restart: (count: number) => Effect.Effect<number>
}

const restarting = (ask: (order: WhatsAppOrder) => Effect.Effect<WhatsAppCount>, pause: number) => (count: number) =>
  Effect.gen(function*() {
    const startedAt = performance.now()
    yield* ask("restart")
    yield* Effect.repeat(ask("count"), {
      until: ({ connected }) => connected >= count,
      schedule: Schedule.spaced("50 millis")
    })
    return (performance.now() - startedAt) / 1000 - pause
  })

const bareSubject = Effect.gen(function*() {
  const server = yield* startWhatsApp
  const input = { port: server.hello.port } satisfies WhatsAppLoop
  const { ask } = yield* startPeer<object, LoopOrder, LoopAnswer>("whatsAppLoop.ts", input, {
    nodeOptions: [...profiling, "--expose-gc"]
  })
  return {
    pair: (count) => Effect.asVoid(ask({ _tag: "Pair", count })),
    send: Effect.map(ask({ _tag: "Send", count: texts, to: people }), ({ perSecond = 0 }) => perSecond),
    memory: Effect.map(ask({ _tag: "Memory" }), ({ live = 0, resident = 0 }) => ({ live, resident })),
    restart: restarting(server.ask, firstPause.bare)
  } satisfies Subject
})

const ourSubject = Effect.gen(function*() {
  const database = yield* startDatabase
  const server = yield* startWhatsApp
  const controls = remoteControls(`http://127.0.0.1:${server.hello.port}`)
  const { child, port } = yield* startService(database, {
    env: { ...unpaced, WHATSAPP_URL: `ws://127.0.0.1:${server.hello.port}/ws/chat` },
    nodeOptions: ["--expose-gc", "--import", memoryAnswers]
  })
  const ask = questionsTo<MemoryQuestion, Memory>(child)
  const [account] = yield* makeAccounts(database, 1)
  const sql = Context.get(yield* Layer.build(client(database)), SqlClient.SqlClient)
  const sessions = yield* sessionsOf({ port, key: account?.key ?? "", controls }).pipe(
    Effect.provideService(SqlClient.SqlClient, sql)
  )
  return {
    ...sessions,
    memory: ask({ givingBack: true }),
    restart: restarting(server.ask, firstPause.ours)
  } satisfies Subject
})

/** The memory of one more session, resident and in use, in megabytes, and the seconds until all sessions are back. */
const measured = Effect.fnUntraced(function*(subject: Subject, sessions: number) {
  const quiet = Effect.andThen(Effect.sleep("5 seconds"), subject.memory)
  const before = yield* quiet
  yield* subject.pair(sessions)
  const beside = yield* quiet
  const restart = yield* subject.restart(warm + sessions)
  return {
    resident: (beside.resident - before.resident) / 1e6 / sessions,
    live: (beside.live - before.live) / 1e6 / sessions,
    restart
  }
})

const bench = Effect.gen(function*() {
  const sessions = yield* Config.Int("BENCH_SESSIONS").pipe(Config.withDefault(300))
  const bare = yield* bareSubject
  const ours = yield* ourSubject
  yield* bare.pair(warm)
  yield* ours.pair(warm)
  const rates: Array<{ readonly ours: number; readonly bare: number }> = []
  for (let round = 0; round < warmUp + rounds; round++) rates.push({ bare: yield* bare.send, ours: yield* ours.send })
  const counted = rates.slice(warmUp)
  const bareCost = yield* measured(bare, sessions)
  const ourCost = yield* measured(ours, sessions)
  yield* printTable(`whatsapp: ${sessions} sessions; rates are medians of ${rounds} rounds of ${texts} texts`, [
    {
      metric: "texts/s of the whole service, aim 0.6",
      value: median(counted.map(({ ours }) => ours)),
      limit: { name: "a bare loop, credentials in memory", value: median(counted.map(({ bare }) => bare)) },
      ratio: median(counted.map(({ bare, ours }) => ours / bare))
    },
    {
      metric: "resident MB of an idle session, aim 1.5",
      value: ourCost.resident,
      limit: { name: "one of the bare library", value: bareCost.resident }
    },
    {
      metric: "in use",
      value: ourCost.live,
      limit: { name: "one of the bare library", value: bareCost.live }
    },
    {
      metric: "seconds until all sessions are back after a restart, aim 1.5",
      value: ourCost.restart,
      limit: { name: "those of the bare library", value: bareCost.restart }
    }
  ])
})

NodeRuntime.runMain(Effect.scoped(bench))
