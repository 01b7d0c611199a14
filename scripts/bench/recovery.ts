/**
 * Measures the recovery of a webhook that missed many events in two days, BENCH_DELIVERIES of them: the call that starts
 * it, a node's pace and memory while it runs, and the time of another account's event meanwhile. Then the statements alone:
 * queueing one half in the portions of an actor, compared with one statement that queues the other half.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect, Fiber, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { WebhookId } from "../../src/values/Ids.ts"
import { countSize, RecoveryRepo } from "../../src/webhooks/recovery/RecoveryRepo.ts"
import { recreatePartitions } from "../../test/support/partitions.ts"
import { insertMissed } from "./support/deliveryTables.ts"
import { highestMemory } from "./support/memory.ts"
import { percentiles } from "./support/percentiles.ts"
import { type BenchDatabase, client, startDatabase } from "./support/service.ts"
import { type Line, median, printTable } from "./support/table.ts"
import { startNode, startSinks } from "./support/webhookPeers.ts"
import type { Target } from "./support/webhookService.ts"

const missed = Number(process.env["BENCH_DELIVERIES"] ?? 1_000_000)
const days = 2
/** Events of another account, one to a transaction. */
const perSecond = 50
const seconds = 10
/** As many as an actor queues at once when memory has room. */
const portion = 400

const startAll = Effect.fnUntraced(function*(database: BenchDatabase) {
  const sinks = yield* startSinks({ count: 2 })
  const other = yield* startSinks({ count: 1, arrivals: true })
  const node = yield* startNode(database, { nodeOptions: ["--expose-gc"] })
  const { targets = [] } = yield* node.ask({ ask: "listen", ports: [...sinks.hello.ports, ...other.hello.ports] })
  const [webhook, busy, small] = targets
  if (webhook === undefined || busy === undefined || small === undefined) return yield* Effect.die("no webhooks")
  return { node, other, webhook, busy, small }
})
type Setup = Effect.Success<ReturnType<typeof startAll>>

/** Milliseconds from commit to first byte of another account's events. */
const latency = Effect.fnUntraced(function*({ node, other, small }: Setup) {
  yield* other.ask({})
  const work = { targets: [small], perSecond, perTransaction: 1, count: perSecond * seconds }
  const { committedAt = [] } = yield* node.ask({ ask: "pace", ...work })
  const { arrivals } = yield* other.ask({})
  return percentiles(arrivals.map(([event, at]) => (at - (committedAt[event - 1] ?? Number.NaN)) / 1e6))
})

/** The node while another webhook has more new events than it can send. */
const withFresh = Effect.fnUntraced(function*(setup: Setup) {
  const { busy, node } = setup
  const deliver = (count: number) => node.ask({ ask: "deliver", targets: [busy], count, unanswered: 3_000 })
  yield* deliver(5_000)
  const burst = yield* Effect.forkChild(deliver(2_500 * seconds))
  const beside = yield* latency(setup)
  yield* Fiber.join(burst)
  const { memory, result } = yield* highestMemory(node.ask({ ask: "memory" }), deliver(20_000))
  return { memory, pace: result.perSecond ?? 0, beside }
})

const withRecovery = Effect.fnUntraced(function*(setup: Setup) {
  const sql = yield* SqlClient.SqlClient
  const { node, webhook } = setup
  const progress = Effect.map(
    sql`select delivered::integer, completed_at is null as is_running from webhook_recoveries
      where webhook_id = ${webhook.webhookId} order by id desc limit 1`,
    ([row]) => ({ delivered: Number(row?.["delivered"]), isRunning: row?.["is_running"] === true })
  )
  const { millis = [] } = yield* node.ask({ ask: "recover", targets: [webhook] })
  yield* Effect.sleep("3 seconds")
  const before = yield* progress
  const { memory } = yield* highestMemory(node.ask({ ask: "memory" }), Effect.sleep(seconds * 1000))
  const after = yield* progress
  const beside = yield* latency(setup)
  const { isRunning } = yield* progress
  if (!isRunning) return yield* Effect.die("the recovery ended before the measurement")
  return { millis, memory, pace: (after.delivered - before.delivered) / seconds, beside }
})

/** Milliseconds of each portion by which an actor queues the first half, and of one statement that queues the rest. */
const queueAll = Effect.fnUntraced(function*({ webhookId }: Target) {
  const sql = yield* SqlClient.SqlClient
  const repo = yield* RecoveryRepo
  const id = WebhookId.make(webhookId)
  yield* sql`update webhook_recoveries set completed_at = now(), is_canceled = true where webhook_id = ${id}`
  const [row] = yield* sql`select count(*)::integer as left from webhook_deliveries
    where webhook_id = ${id} and status <> 'delivered' and requeued_as is null and not is_test`
  const half = Math.floor(Number(row?.["left"]) / 2)
  yield* repo.insert({
    webhookId: id,
    since: "2020-01-01T00:00:00Z",
    until: null,
    statuses: ["failed", "skipped"],
    event: null,
    response_code: null,
    retentionDays: 8
  })
  const counts = yield* untilDone(Effect.map(repo.countMore(id), Option.exists(({ is_counted }) => is_counted)))
  let queued = 0
  const portions = yield* untilDone(
    Effect.map(repo.advance({ webhookId: id, size: portion }), (moved) => (queued += moved.queued) >= half)
  )
  const [plain = 0] = yield* untilDone(Effect.as(
    sql`with chosen as materialized (
        select nextval('webhook_delivery_ids') as new_id, d.* from (
          select id, event_id, event, completed_at from webhook_deliveries
          where webhook_id = ${id} and status <> 'delivered' and requeued_as is null and not is_test order by event_id) d
      ), queued as (
        insert into webhook_queue (id, webhook_id, event_id, event, status)
        select new_id, ${id}, event_id, event, 'pending' from chosen
      )
      update webhook_deliveries d set requeued_as = c.new_id from chosen c
      where d.webhook_id = ${id} and d.id = c.id and d.completed_at = c.completed_at`,
    true
  ))
  return { half, counts, portions, plain }
})

/** Milliseconds of each run. */
const untilDone = Effect.fnUntraced(function*<E, R>(run: Effect.Effect<boolean, E, R>) {
  const millis: Array<number> = []
  for (let isDone = false; !isDone;) {
    const startedAt = performance.now()
    isDone = yield* run
    millis.push(performance.now() - startedAt)
  }
  return millis
})

const measureNode = Effect.fnUntraced(function*(database: BenchDatabase) {
  const setup = yield* startAll(database)
  yield* recreatePartitions(-days - 1, 1)
  yield* insertMissed(setup.webhook, missed, days)
  const idle = yield* latency(setup)
  const fresh = yield* withFresh(setup)
  return { webhook: setup.webhook, idle, fresh, recovery: yield* withRecovery(setup) }
}, Effect.scoped)

const measure = Effect.fnUntraced(function*(database: BenchDatabase) {
  const node = yield* measureNode(database)
  return { ...node, ...yield* queueAll(node.webhook) }
})

const linesOf = (measured: Effect.Success<ReturnType<typeof measure>>): ReadonlyArray<Line> => {
  const { counts, fresh, half, idle, plain, portions, recovery } = measured
  const [started = 0, refused = 0] = recovery.millis
  const count = {
    name: `the statement that counts ${countSize.toLocaleString("en-US")}`,
    value: median(counts)
  }
  const tenth = Math.ceil(portions.length / 10)
  const all = portions.reduce((sum, millis) => sum + millis, 0)
  return [
    { metric: "the call that starts it, ms", value: started, limit: count },
    { metric: "a second call at the same time, until it is refused, ms", value: refused, limit: count },
    {
      metric: "recovered deliveries/s",
      value: recovery.pace,
      limit: { name: "new ones of another webhook", value: fresh.pace }
    },
    {
      metric: "memory of the node, resident, MB",
      value: recovery.memory.resident,
      limit: { name: "while it sends new ones", value: fresh.memory.resident }
    },
    { metric: "in use", value: recovery.memory.live, limit: { name: "the same", value: fresh.memory.live } },
    ...(["p50", "p99"] as const).flatMap((part): ReadonlyArray<Line> => [
      {
        metric: `another account, from commit to first byte, ms: ${part}`,
        value: recovery.beside[part],
        limit: { name: "beside new ones of another webhook", value: fresh.beside[part] }
      },
      { metric: part, value: recovery.beside[part], limit: { name: "idle", value: idle[part] } }
    ]),
    {
      metric: `queueing ${half.toLocaleString("en-US")} in portions of ${portion}, ms`,
      value: all,
      limit: { name: "one statement that queues as many", value: plain }
    },
    {
      metric: "a portion of the last tenth, ms: median",
      value: median(portions.slice(-tenth)),
      limit: { name: "of the first tenth", value: median(portions.slice(0, tenth)) }
    },
    {
      metric: "the slowest portion, ms",
      value: Math.max(...portions),
      limit: { name: "the median", value: median(portions) }
    },
    {
      metric: "the slowest count, ms",
      value: Math.max(...counts),
      limit: { name: "the median", value: median(counts) }
    }
  ]
}

const bench = Effect.gen(function*() {
  const database = yield* startDatabase
  const measured = yield* Effect.provide(
    measure(database),
    RecoveryRepo.layer.pipe(Layer.provideMerge(client(database)))
  )
  yield* printTable(`recovery: ${missed.toLocaleString("en-US")} missed deliveries of a webhook`, linesOf(measured))
})

NodeRuntime.runMain(Effect.scoped(bench))
