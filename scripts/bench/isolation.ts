/**
 * Measures the effect of one endpoint that never answers: deliveries per second to eight healthy endpoints while it
 * holds its requests, compared with the same node without it. It has as many events as each of the others. They are
 * written before the clock starts, and the clock starts when it holds requests.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Schedule } from "effect"
import { startDatabase } from "./support/service.ts"
import { median, printTable } from "./support/table.ts"
import { startNode, startSinks } from "./support/webhookPeers.ts"

const webhooks = 8
const rounds = 11
const events = 12_000

const start = Effect.gen(function*() {
  const database = yield* startDatabase
  const sinks = yield* startSinks({ count: webhooks, silent: 1 })
  const node = yield* startNode(database)
  const { targets = [] } = yield* node.ask({ ask: "listen", ports: sinks.hello.ports })
  return { node, sinks, targets }
})

type Setup = Effect.Success<typeof start>

const healthy = ({ node, targets }: Setup) =>
  Effect.map(node.ask({ ask: "deliver", targets, count: events }), ({ perSecond = 0 }) => perSecond)

/** A new webhook in each round, so that rounds do not affect each other. */
const withDead = Effect.fnUntraced(function*(setup: Setup) {
  const { node, sinks } = setup
  const { targets: dead = [] } = yield* node.ask({ ask: "listen", ports: sinks.hello.silent })
  yield* sinks.ask({ letGo: false })
  yield* node.ask({ ask: "publish", targets: dead, count: events / webhooks })
  yield* sinks.ask({}).pipe(Effect.repeat({ until: ({ held }) => held > 0, schedule: Schedule.spaced("50 millis") }))
  const perSecond = yield* healthy(setup)
  const { held } = yield* sinks.ask({})
  if (held === 0) return yield* Effect.die("the silent endpoint held nothing at the end of its round")
  yield* node.ask({ ask: "unlisten", targets: dead })
  yield* sinks.ask({ letGo: true })
  return perSecond
})

/** In reverse order every second time. */
const round = Effect.fnUntraced(function*(setup: Setup, index: number) {
  if (index % 2 === 1) return { beside: yield* withDead(setup), alone: yield* healthy(setup) }
  const alone = yield* healthy(setup)
  return { beside: yield* withDead(setup), alone }
})

const bench = Effect.gen(function*() {
  const setup = yield* start
  const all = yield* Effect.forEach(Array.from({ length: rounds + 1 }), (_, index) => round(setup, index))
  const measured = all.slice(1)
  yield* printTable(
    `isolation: ${webhooks} healthy endpoints, ${events} events, median of ${rounds} rounds`,
    [{
      metric: "healthy deliveries/s with a silent endpoint",
      value: median(measured.map(({ beside }) => beside)),
      limit: { name: "the same node without it", value: median(measured.map(({ alone }) => alone)) },
      ratio: median(measured.map(({ alone, beside }) => beside / alone))
    }]
  )
})

NodeRuntime.runMain(Effect.scoped(bench))
