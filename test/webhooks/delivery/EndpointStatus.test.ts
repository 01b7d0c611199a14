import { assert, layer } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import { makeBacklogGuard } from "../../../src/webhooks/delivery/BacklogGuard.ts"
import { makeQueueRepo } from "../../../src/webhooks/delivery/QueueRepo.ts"
import { alarmed, storedWebhook } from "../../support/webhookHealth.ts"

/** A webhook with its guard, at the smallest bound that there is. */
const guarded = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const stored = yield* storedWebhook
  const set = (reason: string | null) => sql`update webhooks set unhealthy_reason = ${reason} where id = ${stored.id}`
  return {
    ...stored,
    set,
    check: yield* makeBacklogGuard(stored.id),
    reason: Effect.map(stored.state, ({ unhealthy_reason }) => unhealthy_reason),
    /** So many rows of this status and no others. */
    holding: (count: number, status = "pending") =>
      Effect.andThen(
        sql`delete from webhook_queue where webhook_id = ${stored.id}`,
        sql`insert into webhook_queue (webhook_id, event_id, event, status)
          select ${stored.id}::bigint, 'evt_1', 'email.sent', ${status} from generate_series(1, ${count}::integer)`
      )
  }
})

layer(alarmed({ WEBHOOK_PENDING_LIMIT: "100" }), { excludeTestServices: true })("the guard of a backlog", (it) => {
  it.effect("closes a webhook when as many first attempts wait as may, and tells its owner", () =>
    Effect.gen(function*() {
      const { check, holding, notices, reason } = yield* guarded
      yield* holding(99)
      yield* check("well")
      assert.deepStrictEqual([yield* reason, yield* notices], [null, []])
      yield* holding(100)
      yield* check("well")
      assert.strictEqual(yield* reason, "backlog_full")
      const [notice, ...others] = yield* notices
      assert.include(notice?.body, "100 events or more wait")
      assert.deepStrictEqual(others, [])
    }))

  it.effect("counts neither retries nor what is in the hands of the actor", () =>
    Effect.gen(function*() {
      const { check, holding, reason } = yield* guarded
      for (const status of ["retrying", "taken"]) {
        yield* holding(200, status)
        yield* check("well")
        assert.strictEqual(yield* reason, null, status)
      }
    }))

  it.effect("opens it again when fewer than half of the bound wait, not before", () =>
    Effect.gen(function*() {
      const { check, holding, reason, set } = yield* guarded
      yield* set("backlog_full")
      yield* holding(50)
      yield* check("backlog_full")
      assert.strictEqual(yield* reason, "backlog_full")
      yield* holding(49)
      yield* check("backlog_full")
      assert.strictEqual(yield* reason, null)
    }))

  it.effect("tells once a day of a webhook that falls and recovers again and again", () =>
    Effect.gen(function*() {
      const { check, holding, notices, reason } = yield* guarded
      for (let fall = 0; fall < 3; fall++) {
        yield* holding(100)
        yield* check("well")
        assert.strictEqual(yield* reason, "backlog_full")
        yield* holding(0)
        yield* check("backlog_full")
        assert.strictEqual(yield* reason, null)
      }
      assert.strictEqual((yield* notices).length, 1)
    }))

  it.effect("changes nothing where another reason came between, or the owner has switched it off", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { check, holding, id, notices, reason, set } = yield* guarded
      yield* set("failing")
      yield* holding(100)
      yield* check("well")
      assert.strictEqual(yield* reason, "failing")
      yield* holding(0)
      yield* check("backlog_full")
      assert.strictEqual(yield* reason, "failing")
      yield* set(null)
      yield* sql`update webhooks set is_active = false where id = ${id}`
      yield* holding(100)
      yield* check("well")
      assert.deepStrictEqual([yield* reason, yield* notices], [null, []])
    }))

  it.effect("is not alone: the sweep finds a webhook that is closed though nothing waits, as after its node has died", () =>
    Effect.gen(function*() {
      const { neglected } = yield* makeQueueRepo
      const { holding, id, set } = yield* guarded
      const isFound = Effect.map(neglected(), (rows) => rows.some((row) => row.id === id))
      yield* set("backlog_full")
      yield* holding(1)
      assert.isFalse(yield* isFound)
      yield* holding(0)
      assert.isTrue(yield* isFound)
      yield* set("failing")
      assert.isFalse(yield* isFound)
    }))

  it.effect("leaves neither the state nor its notice when it cannot be committed", () =>
    Effect.gen(function*() {
      const { check, holding, notices, reason, refusingCommits } = yield* guarded
      yield* holding(100)
      const exit = yield* Effect.exit(Effect.scoped(Effect.andThen(refusingCommits, check("well"))))
      assert.isTrue(Exit.isFailure(exit))
      assert.deepStrictEqual([yield* reason, yield* notices], [null, []])
    }))
})
