import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { backlogCheck } from "../../../src/webhooks/delivery/EndpointStatus.ts"
import { QueueRepo } from "../../../src/webhooks/delivery/QueueRepo.ts"
import { WebhooksRepo } from "../../../src/webhooks/endpoint/WebhooksRepo.ts"
import { alarmed, storedWebhook } from "../../support/webhookHealth.ts"

/** A webhook with its backlog check, at the lowest limit. */
const checked = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const stored = yield* storedWebhook
  const set = (reason: string | null) => sql`update webhooks set unhealthy_reason = ${reason} where id = ${stored.id}`
  const adding = (count: number, status: string) =>
    sql`insert into webhook_queue (webhook_id, event_id, event, status)
      select ${stored.id}::bigint, 'evt_1', 'email.sent', ${status} from generate_series(1, ${count}::integer)`
  return {
    ...stored,
    set,
    adding,
    check: yield* backlogCheck(stored.id),
    reason: Effect.map(stored.state, ({ unhealthy_reason }) => unhealthy_reason),
    /** Leaves this many rows of this status, and no others. */
    holding: (count: number, status = "pending") =>
      Effect.andThen(sql`delete from webhook_queue where webhook_id = ${stored.id}`, adding(count, status))
  }
})

const Subject = Layer.merge(QueueRepo.layer, WebhooksRepo.layer).pipe(
  Layer.provideMerge(alarmed({ WEBHOOK_PENDING_LIMIT: "100" }))
)

layer(Subject, { excludeTestServices: true })("backlogCheck", (it) => {
  it.effect("suspends a webhook when its backlog reaches the limit, and notifies its owner", () =>
    Effect.gen(function*() {
      const { check, holding, notices, reason } = yield* checked
      yield* holding(99)
      yield* check("healthy")
      assert.deepStrictEqual([yield* reason, yield* notices], [null, []])
      yield* holding(100)
      yield* check("healthy")
      assert.strictEqual(yield* reason, "backlog_full")
      const [notice, ...others] = yield* notices
      assert.include(notice?.body, "100 events or more wait")
      assert.deepStrictEqual(others, [])
    }))

  it.effect("counts retries with the first attempts, because the extended policy keeps them for 28 hours", () =>
    Effect.gen(function*() {
      const { adding, check, holding, reason } = yield* checked
      yield* holding(60)
      yield* adding(39, "retrying")
      yield* check("healthy")
      assert.strictEqual(yield* reason, null)
      yield* adding(1, "retrying")
      yield* check("healthy")
      assert.strictEqual(yield* reason, "backlog_full")
      yield* holding(50, "retrying")
      yield* check("backlog_full")
      assert.strictEqual(yield* reason, "backlog_full")
    }))

  it.effect("does not count claimed deliveries", () =>
    Effect.gen(function*() {
      const { check, holding, reason } = yield* checked
      yield* holding(200, "taken")
      yield* check("healthy")
      assert.strictEqual(yield* reason, null)
    }))

  it.effect("resumes a webhook when its backlog falls below half of the limit", () =>
    Effect.gen(function*() {
      const { check, holding, reason, set } = yield* checked
      yield* set("backlog_full")
      yield* holding(50)
      yield* check("backlog_full")
      assert.strictEqual(yield* reason, "backlog_full")
      yield* holding(49)
      yield* check("backlog_full")
      assert.strictEqual(yield* reason, null)
    }))

  it.effect("notifies the owner once a day, however often the backlog fills and empties", () =>
    Effect.gen(function*() {
      const { check, holding, notices, reason } = yield* checked
      for (let fall = 0; fall < 3; fall++) {
        yield* holding(100)
        yield* check("healthy")
        assert.strictEqual(yield* reason, "backlog_full")
        yield* holding(0)
        yield* check("backlog_full")
        assert.strictEqual(yield* reason, null)
      }
      assert.strictEqual((yield* notices).length, 1)
    }))

  it.effect("changes nothing when the webhook is unhealthy for another reason or disabled", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { check, holding, id, notices, reason, set } = yield* checked
      yield* set("failing")
      yield* holding(100)
      yield* check("healthy")
      assert.strictEqual(yield* reason, "failing")
      yield* holding(0)
      yield* check("backlog_full")
      assert.strictEqual(yield* reason, "failing")
      yield* set(null)
      yield* sql`update webhooks set is_active = false where id = ${id}`
      yield* holding(100)
      yield* check("healthy")
      assert.deepStrictEqual([yield* reason, yield* notices], [null, []])
    }))

  it.effect("leaves a suspended webhook with an empty backlog to the sweeper, which finds it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { findStalled } = yield* QueueRepo
      const { holding, id, set } = yield* checked
      const isFound = Effect.map(findStalled(), (rows) => rows.some((row) => row.id === id))
      yield* set("backlog_full")
      for (const status of ["pending", "retrying"]) {
        yield* holding(1, status)
        yield* sql`update webhook_queue set due_at = now() + interval '1 hour' where webhook_id = ${id}`
        assert.isFalse(yield* isFound, status)
      }
      yield* holding(0)
      assert.isTrue(yield* isFound)
      yield* set("failing")
      assert.isFalse(yield* isFound)
    }))

  it.effect("leaves the state and the notices unchanged when the commit fails", () =>
    Effect.gen(function*() {
      const { check, holding, notices, reason, refusingCommits } = yield* checked
      yield* holding(100)
      const exit = yield* Effect.exit(Effect.scoped(Effect.andThen(refusingCommits, check("healthy"))))
      assert.isTrue(Exit.isFailure(exit))
      assert.deepStrictEqual([yield* reason, yield* notices], [null, []])
    }))
})
