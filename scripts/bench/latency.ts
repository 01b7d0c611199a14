/**
 * Measures how soon an event leaves: from the return of its commit to its first byte at the endpoint, at a thousand
 * events per second over eight webhooks, in transactions of one event and of ten. Transactions start by the clock,
 * whether or not earlier ones have ended. Both ends read the machine's monotonic clock. An arrival before the return of
 * the commit counts as a negative time.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"
import { startDatabase } from "./support/service.ts"
import { type Line, printTable } from "./support/table.ts"
import { startNode, startSinks } from "./support/webhookPeers.ts"

const webhooks = 8
const perSecond = 1_000
const seconds = 10
const warmUpSeconds = 3

const start = Effect.gen(function*() {
  const database = yield* startDatabase
  const sinks = yield* startSinks({ count: webhooks, arrivals: true })
  const node = yield* startNode(database)
  const { targets = [] } = yield* node.ask({ ask: "listen", ports: sinks.hello.ports })
  return { node, sinks, targets }
})

type Setup = Effect.Success<typeof start>

/** Sorted milliseconds of all events, and committed events per second. */
const measure = Effect.fnUntraced(function*({ node, sinks, targets }: Setup, perTransaction: number) {
  const pace = { ask: "pace", targets, perSecond, perTransaction } as const
  yield* node.ask({ ...pace, count: perSecond * warmUpSeconds })
  yield* sinks.ask({})
  const { committedAt = [], perSecond: committed = 0 } = yield* node.ask({ ...pace, count: perSecond * seconds })
  const { arrivals } = yield* sinks.ask({})
  // The number in an event's data starts at 1.
  const millis = arrivals.map(([event, at]) => (at - (committedAt[event - 1] ?? Number.NaN)) / 1e6)
  if (millis.length !== committedAt.length || millis.some(Number.isNaN)) {
    return yield* Effect.die(`of ${committedAt.length} events came ${millis.length}`)
  }
  return { committed, millis: millis.toSorted((a, b) => a - b) }
})

const linesOf = ({ committed, millis }: Effect.Success<ReturnType<typeof measure>>): ReadonlyArray<Line> => {
  const at = (part: number) => millis[Math.min(millis.length - 1, Math.floor(millis.length * part))] ?? 0
  const aim = (value: number) => ({ name: "the aim", value })
  return [
    { metric: "events/s committed", value: committed, limit: { name: "the requested rate", value: perSecond } },
    { metric: "from commit to first byte, ms: p50", value: at(0.5), limit: aim(10) },
    { metric: "p90", value: at(0.9) },
    { metric: "p99", value: at(0.99), limit: aim(50) },
    { metric: "p99.9", value: at(0.999) },
    { metric: "max", value: at(1) }
  ]
}

const bench = Effect.gen(function*() {
  const setup = yield* start
  for (const perTransaction of [1, 10]) {
    const measured = yield* measure(setup, perTransaction)
    yield* printTable(
      `latency: ${perSecond} events/s for ${seconds} s, ${perTransaction} to a transaction, ${webhooks} webhooks`,
      linesOf(measured)
    )
  }
})

NodeRuntime.runMain(Effect.scoped(bench))
