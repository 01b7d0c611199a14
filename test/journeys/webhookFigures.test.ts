import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { asking } from "../support/bulkMail.ts"
import { Relay } from "../support/Relay.ts"
import { eventually, makeAccount, Service } from "../support/Service.ts"
import { makeWebhookReceiver, type ReceiverScript } from "../support/WebhookReceiver.ts"
import { askTest, create, deliveriesOf, happen } from "../support/webhookStories.ts"

/** A webhook for completed batches at an endpoint that answers by a script, with its figures. */
const webhookAt = Effect.fnUntraced(function*(script: ReceiverScript) {
  const node = yield* Service
  const { key } = yield* makeAccount()
  const receiver = yield* makeWebhookReceiver({ script })
  const { id } = yield* create(node, key, { url: receiver.url, events: ["email.bulk_completed"] })
  const statistics = node.request("GET", `/v1/webhooks/${id}/statistics`, { key })
  return {
    id,
    key,
    node,
    statistics,
    happen: happen(node, key),
    /** The figures, once there were as many attempts. */
    attempted: (count: number) =>
      asking(statistics, ({ at }) => Number(at("data", "succeeded")) + Number(at("data", "failed")) >= count)
  }
})

interface Hour {
  readonly at: string
  readonly succeeded: number
  readonly failed: number
}

const none = { succeeded: 0, failed: 0, p95_ms: null, waiting: 0, oldest_waiting_at: null }

layer(Relay.layer(), { excludeTestServices: true })("the figures of a webhook", (it) => {
  it.effect("count each attempt of the last 24 hours, tell how long they took, and what waits since when", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { attempted, happen, id, key, node, statistics } = yield* webhookAt([
        500,
        200,
        { status: 200, afterMillis: 300 }
      ])
      const { hours: unused, ...before } = Object((yield* statistics).at("data"))
      assert.deepStrictEqual(before, none)
      assert.lengthOf(unused, 24)
      yield* happen
      // Its next attempt would take an answer of the others.
      yield* eventually(
        sql`update webhook_queue set due_at = now() + interval '1 hour' where webhook_id = ${id} and status = 'retrying'
          returning id`,
        ({ length }) => length === 1
      )
      yield* attempted(1)
      yield* happen
      yield* happen
      const { at } = yield* attempted(3)
      const rows = yield* deliveriesOf(node, key, id)
      const deliveries = rows.at("data") as ReadonlyArray<{ readonly duration_ms: number; readonly created_at: string }>
      const slowest = Math.max(...deliveries.map(({ duration_ms }) => duration_ms))
      assert.isAtLeast(slowest, 300)
      const { hours, p95_ms, ...figures } = Object(at("data"))
      assert.deepStrictEqual(figures, {
        succeeded: 2,
        failed: 1,
        waiting: 1,
        oldest_waiting_at: deliveries[2]?.created_at
      })
      assert.isAtLeast(p95_ms, slowest)
      assert.isBelow(p95_ms, slowest * 1.2)
      const list = hours as ReadonlyArray<Hour>
      assert.deepStrictEqual(list.map(({ at }) => at), list.map(({ at }) => at).toSorted())
      const sum = (of: "failed" | "succeeded") => list.reduce((total, hour) => total + hour[of], 0)
      assert.deepStrictEqual([sum("succeeded"), sum("failed")], [2, 1])
      // The retry ends the wait.
      yield* sql`update webhook_queue set due_at = now() where webhook_id = ${id} and status = 'retrying'`
      const after = yield* attempted(4)
      assert.deepInclude(Object(after.at("data")), { succeeded: 3, failed: 1, waiting: 0, oldest_waiting_at: null })
    }))

  it.effect("show each hour apart, and forget what is older than 24 hours", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { id, statistics } = yield* webhookAt([200])
      yield* sql`insert into webhook_attempt_counts (webhook_id, hour, duration, succeeded, failed)
        select ${id}, date_trunc('hour', now(), 'UTC') - hours * interval '1 hour', duration, succeeded, failed
        from (values (24, 50, 7, 7), (22, 20, 90, 0), (2, 24, 3, 1), (2, 44, 0, 6)) as t (hours, duration, succeeded, failed)`
      const { at } = yield* statistics
      const { hours, ...figures } = Object(at("data"))
      // 94 of 100 attempts took up to 64 ms, the others up to 2,048 ms.
      assert.deepStrictEqual(figures, { ...none, succeeded: 93, failed: 7, p95_ms: 2048 })
      const busy = (hours as ReadonlyArray<Hour>).filter(({ failed, succeeded }) => succeeded + failed > 0)
      assert.deepStrictEqual(busy.map(({ failed, succeeded }) => [succeeded, failed]), [[90, 0], [3, 7]])
      assert.strictEqual(Date.parse(busy[1]?.at ?? "") - Date.parse(busy[0]?.at ?? ""), 20 * 3_600_000)
    }))

  it.effect("count no test, and are gone with the webhook", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { attempted, happen, id, key, node, statistics } = yield* webhookAt([200])
      assert.strictEqual((yield* askTest(node, key, { id })).at("data", "status"), "delivered")
      assert.deepInclude(Object((yield* statistics).at("data")), none)
      yield* happen
      yield* attempted(1)
      yield* node.request("DELETE", `/v1/webhooks/${id}`, { key })
      assert.strictEqual((yield* statistics).status, 404)
      assert.lengthOf(yield* sql`select from removed_webhooks where webhook_id = ${id}`, 1)
    }))
})
