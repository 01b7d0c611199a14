/**
 * Measures durable deliveries per second: events are inserted with their deliveries, sent over eight webhooks and
 * recorded with their attempts, all within the time. Once sustained, with a limit of unanswered events, and once as a
 * burst, as fast as the database inserts. Compared with a loop over undici's dispatch without durability, and with
 * graphile-worker, which is as durable. All processes stay up and take turns, so that noise affects all alike.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Loop } from "./support/dispatchLoop.ts"
import type { Deliveries } from "./support/graphileWorker.ts"
import { startPeer } from "./support/peer.ts"
import { type BenchDatabase, client, startDatabase } from "./support/service.ts"
import { type Line, median, printTable } from "./support/table.ts"
import { startNode, startSinks } from "./support/webhookPeers.ts"

const webhooks = 8
const rounds = 7
/** Rounds that do not count. */
const warmUp = 3
const events = 24_000
/** Limit of the sustained run: three quarters of what the actors of eight webhooks may hold in memory. */
const unanswered = 3_000
/** Row by row is slow, and steady from the start. */
const fewer = 1_200

interface Measured {
  readonly perSecond: number
}

const start = Effect.fnUntraced(function*(database: BenchDatabase) {
  const { hello: { ports } } = yield* startSinks({ count: webhooks })
  const node = yield* startNode(database)
  const { targets = [] } = yield* node.ask({ ask: "listen", ports })
  const loop = yield* startPeer<object, Loop, Measured>("dispatchLoop.ts", { ports })
  const sql = yield* SqlClient.SqlClient
  // A database for each: a new job wakes all workers of the same database.
  const worker = Effect.fnUntraced(function*(mode: "default" | "tuned") {
    yield* sql`create database ${sql(`graphile_${mode}`)}`
    return yield* startPeer<object, Deliveries, Measured>("graphileWorker.ts", {
      ports,
      socket: database.socket,
      mode
    })
  })
  const byDefault = yield* worker("default")
  const tuned = yield* worker("tuned")
  const perSecondOf = (measured: Effect.Effect<Partial<Measured>>) =>
    Effect.map(measured, ({ perSecond = 0 }) => perSecond)
  return {
    ready: perSecondOf(loop.ask({ kind: "ready", count: events })),
    // Next to each other, because their ratio has an aim.
    signed: perSecondOf(loop.ask({ kind: "signed", count: events })),
    sustained: perSecondOf(node.ask({ ask: "deliver", targets, count: events, unanswered })),
    burst: perSecondOf(node.ask({ ask: "deliver", targets, count: events })),
    tunedBurst: perSecondOf(tuned.ask({ count: events })),
    tuned: perSecondOf(tuned.ask({ count: events, unanswered })),
    default: perSecondOf(byDefault.ask({ count: fewer }))
  }
})

type Setup = Effect.Success<ReturnType<typeof start>>
type Round = Record<keyof Setup, number>

/** One after the other, in reverse order every second time. */
const round = Effect.fnUntraced(function*(setup: Setup, index: number) {
  const turns = Object.entries(setup)
  const measured = yield* Effect.forEach(
    index % 2 === 0 ? turns : turns.toReversed(),
    ([name, measure]) => Effect.map(measure, (perSecond) => [name, perSecond] as const)
  )
  // `names` has the keys of the setup.
  return Object.fromEntries(measured) as Round
})

const linesOf = (all: ReadonlyArray<Round>): ReadonlyArray<Line> => {
  const valueOf = (name: keyof Round) => median(all.map((one) => one[name]))
  const beside = (own: "burst" | "sustained") => (limit: keyof Round, name: string, metric = ""): Line => ({
    metric,
    value: valueOf(own),
    limit: { name, value: valueOf(limit) },
    ratio: median(all.map((one) => one[own] / one[limit]))
  })
  const [sustained, burst] = [beside("sustained"), beside("burst")]
  return [
    sustained("ready", "undici dispatch in a loop, bytes made before", "durable deliveries/s, sustained"),
    sustained("signed", "the same, each event serialised and signed"),
    sustained("tuned", "graphile-worker, tuned: 192 jobs, all in batches"),
    sustained("default", "graphile-worker, 16 jobs, else its defaults"),
    burst("signed", "undici dispatch, each event serialised and signed", "of a burst"),
    burst("tunedBurst", "graphile-worker, tuned")
  ]
}

const bench = Effect.gen(function*() {
  const database = yield* startDatabase
  const setup = yield* Effect.provide(start(database), client(database))
  const all = yield* Effect.forEach(Array.from({ length: warmUp + rounds }), (_, index) => round(setup, index))
  yield* printTable(
    `webhooks: ${webhooks} webhooks, ${events} events, median of ${rounds} rounds`,
    // A node runs for weeks with optimised code.
    linesOf(all.slice(warmUp))
  )
})

NodeRuntime.runMain(Effect.scoped(bench))
