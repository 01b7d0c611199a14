import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { asking } from "../support/bulkMail.ts"
import { missedEvents } from "../support/missedEvents.ts"
import { makeAccount, type RunningNode } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { between, drainsWebhook, listen, makeCluster, randomPause, settled } from "./FaultCluster.ts"
import { rounds } from "./inTime.ts"

const count = 2_000
/** Further events, which the filter of the recovery leaves out. */
const unwanted = 200
const since = "2020-01-01T00:00:00Z"

/** The states of a recovery at which a node is killed, a state in each round. */
const states = ["queueing", "starting", "started", "sending the last", "canceled"] as const

interface Outage {
  readonly node: RunningNode
  readonly key: string
  readonly id: number
}

const start = ({ id, key, node }: Outage) =>
  node.request("POST", `/v1/webhooks/${id}/recover`, { key, json: { since, response_code: "5xx" } })

/** The newest recovery, once it fulfils the condition. */
const newest = ({ id, key, node }: Outage, fulfils: (recovery: Readonly<Record<string, unknown>>) => boolean) =>
  Effect.map(
    asking(node.request("GET", `/v1/webhooks/${id}/recoveries`, { key }), ({ at }) => fulfils(Object(at("data", 0)))),
    ({ at }) => Object(at("data", 0)) as Readonly<Record<string, unknown>> // a recovery, by the condition
  )

/** Brings a recovery to a state. */
const reach = Effect.fnUntraced(function*(state: typeof states[number], outage: Outage) {
  if (state === "starting") {
    yield* Effect.forkScoped(Effect.exit(start(outage)))
    return yield* randomPause(0, 30)
  }
  assert.strictEqual((yield* start(outage)).status, 202)
  if (state === "started") return 0
  if (state === "sending the last") yield* newest(outage, ({ queued }) => queued === count)
  else yield* newest(outage, ({ queued }) => Number(queued) > 0)
  const pause = yield* randomPause(0, state === "sending the last" ? 50 : 300)
  if (state === "canceled") {
    const { id } = yield* newest(outage, () => true)
    const path = `/v1/webhooks/${outage.id}/recoveries/${String(id)}/cancel`
    assert.strictEqual((yield* outage.node.request("POST", path, { key: outage.key })).status, 200)
  }
  return pause
})

layer(TestDatabase.layer, { excludeTestServices: true, timeout: "30 minutes" })(
  "kill -9 of a node during a recovery",
  (it) => {
    it.effect(
      "a killed node loses no event of a recovery in any of its states, and queues none of them twice",
      () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const cluster = makeCluster({})
          yield* Effect.all([cluster.start, cluster.start], { concurrency: 2 })
          for (let round = 0; round < rounds; round++) {
            const state = states[round % states.length] ?? "queueing"
            const { accountId, key } = yield* makeAccount()
            const receiver = yield* makeWebhookReceiver({ script: () => ({ status: 200, afterMillis: between(1, 5) }) })
            const { id, secret } = yield* listen(cluster.any(0), key, {
              url: receiver.url,
              events: ["email.bulk_completed"]
            })
            const missed = yield* missedEvents({ accountId, webhookId: id, count })
            yield* sql`update webhook_deliveries set response_code = 503 where webhook_id = ${id}`
            const others = yield* missedEvents({ accountId, webhookId: id, count: unwanted })
            const accepting = cluster.any(round)
            const pause = yield* Effect.scoped(reach(state, { node: accepting, key, id }))
            // The node that accepts the request, or the one that runs the actor.
            const victim = state === "starting" || round % 3 === 2
              ? accepting
              : (yield* cluster.ownerOf(drainsWebhook(id))).node
            yield* cluster.kill(victim)
            const node = cluster.any(0)
            const outage = { node, key, id }
            const known = yield* node.request("GET", `/v1/webhooks/${id}/recoveries`, { key })
            const isLeft = known.at("data", 0) === undefined || state === "canceled"
            if (state === "canceled") {
              const stopped = yield* newest(outage, ({ delivered, queued }) => delivered === queued)
              assert.deepInclude(stopped, { status: "canceled" })
            }
            if (isLeft) assert.strictEqual((yield* start(outage)).status, 202)
            const done = yield* newest(outage, ({ status }) => status === "completed")
            assert.strictEqual(done["delivered"], done["queued"])
            const { events, twice } = yield* settled(receiver, { secret, node, key, id, count })
            assert.deepStrictEqual(events.map((event) => event.id).toSorted(), missed)
            const rows = yield* sql`select event_id from webhook_queue where webhook_id = ${id}
              union all select event_id from webhook_deliveries where webhook_id = ${id} and requeued_as is null`
            assert.deepStrictEqual(
              rows.map(({ event_id }) => String(event_id)).toSorted(),
              [...missed, ...others].toSorted()
            )
            const [queued] = yield* sql`select sum(queued)::int as sum from webhook_recoveries where webhook_id = ${id}`
            assert.strictEqual(queued?.["sum"], count)
            yield* Effect.log(`${state}: killed after ${pause} ms, ${twice} sent twice`)
            // Eight requests in flight, and answered ones whose outcomes the next statement of at most 100 would have recorded.
            assert.isAtMost(twice, 8 + 100)
            yield* cluster.start
          }
        }),
      300_000 + rounds * 60_000
    )
  }
)
