/**
 * Measures a million pending deliveries of 1,000 webhooks: the time in which an actor claims a hundred deliveries of
 * one webhook, and the memory of a node that starts with this backlog.
 *
 * The bench samples memory every half second while a fresh node delivers, each time after a forced collection, and
 * reports the highest sample: resident memory, which may contain freed pages, and the part in use. Growth is relative
 * to a node that started on the same database before the backlog existed and delivered as much to as many webhooks. The
 * difference is the cost of the backlog, without that of active webhooks.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { column } from "../../src/platform/database/column.ts"
import { QueueRepo } from "../../src/webhooks/delivery/QueueRepo.ts"
import { countUnfinished, explainClaim, insertPending, timeClaim } from "./support/deliveryTables.ts"
import { highestMemory, type Memory } from "./support/memory.ts"
import { type BenchDatabase, client, startDatabase } from "./support/service.ts"
import { type Line, median, printTable } from "./support/table.ts"
import { startNode, startSinks } from "./support/webhookPeers.ts"
import type { Target } from "./support/webhookService.ts"

const webhooks = 1_000
const perWebhook = 1_000
const claims = 200
const events = 12_000
const seconds = 15

const idsOf = (targets: ReadonlyArray<Target>) => targets.map(({ webhookId }) => webhookId)

const freshNode = (database: BenchDatabase) => startNode(database, { nodeOptions: ["--expose-gc"] })
type Node = Effect.Success<ReturnType<typeof freshNode>>

/** The peak memory of a node during an effect. */
const memoryWhile = <A, E, R>(node: Node, work: Effect.Effect<A, E, R>) =>
  highestMemory(node.ask({ ask: "memory" }), work)

/** Inactive webhooks that share the endpoints. */
const makeBacklogWebhooks = Effect.fnUntraced(function*(database: BenchDatabase, ports: ReadonlyArray<number>) {
  const node = yield* freshNode(database)
  const spread = Array.from({ length: webhooks }, (_, index) => ports[index % ports.length] ?? 0)
  const { targets = [] } = yield* node.ask({ ask: "listen", ports: spread })
  yield* activate(targets, false)
  return targets
}, Effect.scoped)

/** A fresh node that delivers new events. */
const delivering = (node: Node, targets: ReadonlyArray<Target>) =>
  Effect.map(memoryWhile(node, node.ask({ ask: "deliver", targets, count: events })), ({ memory }) => memory)

/** Delivers to eight other webhooks. */
const deliveringToFew = Effect.fnUntraced(function*(database: BenchDatabase, ports: ReadonlyArray<number>) {
  const node = yield* freshNode(database)
  const { targets = [] } = yield* node.ask({ ask: "listen", ports })
  return yield* delivering(node, targets)
}, Effect.scoped)

/** Delivers to all webhooks of the later backlog. */
const deliveringToAll = Effect.fnUntraced(function*(database: BenchDatabase, backlog: ReadonlyArray<Target>) {
  yield* activate(backlog, true)
  const memory = yield* delivering(yield* freshNode(database), backlog)
  yield* activate(backlog, false)
  return memory
}, Effect.scoped)

const activate = Effect.fnUntraced(function*(targets: ReadonlyArray<Target>, active: boolean) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`update webhooks set is_active = ${active} where id = any(${column.int8(idsOf(targets))})`
})

/** A fresh node that delivers the backlog. The clock starts after the first deliveries. */
const deliveringBacklog = Effect.fnUntraced(function*(database: BenchDatabase, backlog: ReadonlyArray<Target>) {
  const left = countUnfinished(idsOf(backlog))
  yield* activate(backlog, true)
  const all = yield* left
  const node = yield* freshNode(database)
  const work = Effect.gen(function*() {
    const before = yield* left.pipe(
      Effect.repeat({ until: (now) => now < all, schedule: Schedule.spaced("200 millis") })
    )
    yield* Effect.sleep(seconds * 1000)
    return before - (yield* left)
  })
  const { memory, result } = yield* memoryWhile(node, work)
  return { memory, delivered: result }
}, Effect.scoped)

/** The first claim of a connection also prepares the statement and does not count. */
const timesOf = <E, R>(targets: ReadonlyArray<Target>, time: (webhook: number) => Effect.Effect<number, E, R>) =>
  Effect.map(Effect.forEach(idsOf(targets), time), (times) => times.slice(1))

const measure = Effect.fnUntraced(function*(database: BenchDatabase) {
  const { hello: { ports } } = yield* startSinks({ count: 8 })
  const backlog = yield* makeBacklogWebhooks(database, ports)
  const few = yield* deliveringToFew(database, ports)
  const all = yield* deliveringToAll(database, backlog)
  yield* insertPending(idsOf(backlog), perWebhook)
  const claimed = yield* timesOf(backlog.slice(0, claims + 1), timeClaim)
  const explained = yield* timesOf(backlog.slice(-claims - 1), explainClaim)
  const disabled = yield* deliveringToFew(database, ports)
  return { claimed, explained, few, all, disabled, active: yield* deliveringBacklog(database, backlog) }
})

const linesOf = (measured: Effect.Success<ReturnType<typeof measure>>): ReadonlyArray<Line> => {
  const { active, all, claimed, disabled, explained, few } = measured
  const node = (metric: string, { live, resident }: Memory): ReadonlyArray<Line> => [
    { metric, value: resident },
    { metric: "in use", value: live }
  ]
  const growth = (metric: string, { live, resident }: Memory, before: Memory): ReadonlyArray<Line> => [
    { metric, value: resident - before.resident, limit: { name: "the aim: at most", value: 100 } },
    { metric: "in use", value: live - before.live }
  ]
  return [
    { metric: `claiming 100, ms: median of ${claims} webhooks`, value: median(claimed) },
    { metric: "slowest", value: Math.max(...claimed) },
    { metric: `the statement alone, ms: median of ${claims} others`, value: median(explained) },
    { metric: "slowest", value: Math.max(...explained) },
    ...node("resident without a backlog, a node that delivers to 8 webhooks, MB", few),
    ...node(`resident without a backlog, a node that delivers to ${webhooks} webhooks, MB`, all),
    ...growth("growth by the backlog, its webhooks inactive, MB", disabled, few),
    ...growth(`growth while it delivers the backlog for ${seconds} s, MB`, active.memory, all),
    { metric: "deliveries/s of the backlog meanwhile", value: active.delivered / seconds }
  ]
}

const bench = Effect.gen(function*() {
  const database = yield* startDatabase
  const measured = yield* Effect.provide(measure(database), QueueRepo.layer.pipe(Layer.provideMerge(client(database))))
  yield* printTable(
    `backlog: ${(webhooks * perWebhook).toLocaleString("en-US")} pending deliveries over ${webhooks} webhooks`,
    linesOf(measured)
  )
})

NodeRuntime.runMain(Effect.scoped(bench))
