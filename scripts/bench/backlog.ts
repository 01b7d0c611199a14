/**
 * What a million waiting deliveries of 1,000 webhooks cost: the time in which an actor takes a hundred of one webhook,
 * and the memory of a node that starts beside them.
 *
 * Memory is sampled every half second while a fresh node delivers, each time after a forced collection, and the highest
 * sample counts: what is resident, in which pages that the collection has freed may still be, and what of it is in use.
 * Growth is beside a node that started on the same database before the deliveries were there, and delivered as much to
 * as many webhooks: what a million costs is told apart from what webhooks cost that are awake.
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
const takes = 200
const events = 12_000
const seconds = 15

const idsOf = (targets: ReadonlyArray<Target>) => targets.map(({ webhookId }) => webhookId)

const freshNode = (database: BenchDatabase) => startNode(database, ["--expose-gc"])
type Node = Effect.Success<ReturnType<typeof freshNode>>

/** The highest megabytes of a node while it does something. */
const memoryWhile = <A, E, R>(node: Node, work: Effect.Effect<A, E, R>) =>
  highestMemory(node.ask({ ask: "memory" }), work)

/** Webhooks that share the endpoints, switched off. */
const makeBacklogWebhooks = Effect.fnUntraced(function*(database: BenchDatabase, ports: ReadonlyArray<number>) {
  const node = yield* freshNode(database)
  const spread = Array.from({ length: webhooks }, (_, index) => ports[index % ports.length] ?? 0)
  const { targets = [] } = yield* node.ask({ ask: "listen", ports: spread })
  yield* activate(targets, false)
  return targets
}, Effect.scoped)

/** A node that starts and delivers new events, which nothing waits before. */
const delivering = (node: Node, targets: ReadonlyArray<Target>) =>
  Effect.map(memoryWhile(node, node.ask({ ask: "deliver", targets, count: events })), ({ memory }) => memory)

/** To eight webhooks of its own. */
const deliveringToFew = Effect.fnUntraced(function*(database: BenchDatabase, ports: ReadonlyArray<number>) {
  const node = yield* freshNode(database)
  const { targets = [] } = yield* node.ask({ ask: "listen", ports })
  return yield* delivering(node, targets)
}, Effect.scoped)

/** To the webhooks of the backlog before it is there, all of them awake. */
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

/** A node that starts when all that waits may be delivered; the clock starts once some of it was. */
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

/** The first take of a connection also prepares the statement, so it is not counted. */
const timesOf = <E, R>(targets: ReadonlyArray<Target>, time: (webhook: number) => Effect.Effect<number, E, R>) =>
  Effect.map(Effect.forEach(idsOf(targets), time), (times) => times.slice(1))

const measure = Effect.fnUntraced(function*(database: BenchDatabase) {
  const { hello: { ports } } = yield* startSinks({ count: 8 })
  const backlog = yield* makeBacklogWebhooks(database, ports)
  const few = yield* deliveringToFew(database, ports)
  const all = yield* deliveringToAll(database, backlog)
  yield* insertPending(idsOf(backlog), perWebhook)
  const claimed = yield* timesOf(backlog.slice(0, takes + 1), timeClaim)
  const explained = yield* timesOf(backlog.slice(-takes - 1), explainClaim)
  const disabled = yield* deliveringToFew(database, ports)
  return { claimed, explained, few, all, disabled, active: yield* deliveringBacklog(database, backlog) }
})

const linesOf = (measured: Effect.Success<ReturnType<typeof measure>>): ReadonlyArray<Line> => {
  const { active, all, claimed, disabled, explained, few } = measured
  const node = (metric: string, { live, resident }: Memory): ReadonlyArray<Line> => [
    { metric, value: resident },
    { metric: "of it in use", value: live }
  ]
  const growth = (metric: string, { live, resident }: Memory, before: Memory): ReadonlyArray<Line> => [
    { metric, value: resident - before.resident, limit: { name: "the aim: at most", value: 100 } },
    { metric: "of it in use", value: live - before.live }
  ]
  return [
    { metric: `claiming 100, ms: median of ${takes} webhooks`, value: median(claimed) },
    { metric: "the slowest", value: Math.max(...claimed) },
    { metric: `the statement alone, ms: median of ${takes} others`, value: median(explained) },
    { metric: "the slowest", value: Math.max(...explained) },
    ...node("resident, no backlog, a node that delivers to 8 webhooks, MB", few),
    ...node(`resident, no backlog, a node that delivers to ${webhooks} webhooks, MB`, all),
    ...growth("growth beside the backlog, its webhooks off, MB", disabled, few),
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
