/**
 * Durable deliveries a second: events are written with their deliveries, sent over eight webhooks and written down with
 * their attempts, all within the time. Beside a loop over undici's dispatch that keeps nothing, with as many in flight.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Effect } from "effect"
import { runScript } from "./support/script.ts"
import { environment, profiling, startDatabase } from "./support/service.ts"
import { median, printTable } from "./support/table.ts"

const webhooks = 8
const rounds = 5
const events = 12_000

interface Measured {
  readonly perSecond: ReadonlyArray<number>
}

const bench = Effect.gen(function*() {
  const database = yield* startDatabase
  const { ports } = yield* runScript<{ ports: ReadonlyArray<number> }>("httpSink.ts", { count: webhooks })
  const input = { ports, events, warmUp: events, rounds }
  const node = { env: environment(database), nodeOptions: profiling }
  // One process each: code is fast only once it has run for a while, and a node runs for weeks.
  const ours = yield* Effect.scoped(runScript<Measured>("webhookNode.ts", input, node))
  const bare = yield* Effect.scoped(runScript<Measured>("dispatchLoop.ts", input))
  yield* printTable(`webhooks: ${webhooks} webhooks, ${events} events, median of ${rounds} rounds`, [{
    metric: "durable deliveries/s",
    value: median(ours.perSecond),
    limit: { name: "undici dispatch in a loop, bytes made before", value: median(bare.perSecond) }
  }])
})

NodeRuntime.runMain(Effect.scoped(bench))
