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
const rounds = 1
const events = 12_000

interface Measured {
  readonly perSecond: ReadonlyArray<number>
}

const bench = Effect.gen(function*() {
  const database = yield* startDatabase
  const { ports } = yield* runScript<{ ports: ReadonlyArray<number> }>("httpSink.ts", { count: webhooks })
  const input = { ports, events, warmUp: 12_000, rounds: 8 }
  const node = { env: environment(database), nodeOptions: profiling }
  const one = Effect.gen(function*() {
    const ours = yield* Effect.scoped(runScript<Measured>("webhookNode.ts", input, node))
    const bare = yield* Effect.scoped(runScript<Measured>("dispatchLoop.ts", input))
    console.log(ours, bare)
    return { ours: ours.perSecond[0] ?? 0, bare: bare.perSecond[0] ?? 0 }
  })
  const all = yield* Effect.replicateEffect(one, rounds)
  yield* printTable(`webhooks: ${webhooks} webhooks, ${events} events, median of ${rounds} rounds`, [{
    metric: "durable deliveries/s",
    value: median(all.map(({ ours }) => ours)),
    limit: { name: "undici dispatch in a loop", value: median(all.map(({ bare }) => bare)) },
    ratio: median(all.map(({ bare, ours }) => ours / bare))
  }])
})

NodeRuntime.runMain(Effect.scoped(bench))
