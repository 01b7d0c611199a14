/**
 * Durable deliveries a second: events are written with their deliveries, sent over eight webhooks and written down with
 * their attempts, all within the time. Sustained, when no event is written while too many have no answer, and in a burst,
 * all as fast as they can be written. Beside a loop over undici's dispatch that keeps nothing, and beside
 * graphile-worker, which keeps as much. All are processes that stay and take turns, so that noise meets all alike.
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
/** Of the sustained events: three quarters of what the actors of eight webhooks may have in memory. */
const unanswered = 3_000
/** Row by row is steady from the start, and slow. */
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
  // A database for each, since what is added in one wakes all workers of the same database.
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
    // Neighbours in time, as this is the ratio that there is an aim for.
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

/** All one after the other, every second time from the end. */
const round = Effect.fnUntraced(function*(setup: Setup, index: number) {
  const turns = Object.entries(setup)
  const measured = yield* Effect.forEach(
    index % 2 === 0 ? turns : turns.toReversed(),
    ([name, measure]) => Effect.map(measure, (perSecond) => [name, perSecond] as const)
  )
  // The names are those of the setup.
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
    // Code is fast only once it has run for a while, and a node runs for weeks.
    linesOf(all.slice(warmUp))
  )
})

NodeRuntime.runMain(Effect.scoped(bench))
