import { assert, describe, it, layer } from "@effect/vitest"
import { Clock, Context, Effect, Exit, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { DeliveryId, WebhookId } from "../../../src/values/Ids.ts"
import { Timestamp } from "../../../src/values/Timestamp.ts"
import type { AttemptRecord } from "../../../src/webhooks/delivery/DeliveryAttempt.ts"
import { DeliveryOutcomes, healthChanges } from "../../../src/webhooks/delivery/DeliveryOutcomes.ts"
import { transition } from "../../../src/webhooks/delivery/DeliveryState.ts"
import { UnhealthyNotifier } from "../../../src/webhooks/endpoint/UnhealthyNotifier.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { noEvents } from "../../support/testEvents.ts"
import { alarmed, storedWebhook } from "../../support/webhookHealth.ts"

const Subject = DeliveryOutcomes.layer.pipe(
  Layer.provideMerge(
    alarmed({
      WEBHOOK_UNHEALTHY_FAILURES: "3",
      WEBHOOK_UNHEALTHY_SECONDS: "600",
      PUBLIC_URL: "https://messages.example"
    })
  )
)

/** Another node's writer, on a separate pool. */
const OtherNode = Layer.fresh(
  DeliveryOutcomes.layer.pipe(
    Layer.provide(UnhealthyNotifier.layer),
    Layer.provide(noEvents),
    Layer.provide(TestDatabase.layerClient)
  )
)

/** How a last attempt ends; `late410` meets 410 after other responses, `first` is a failed first attempt. */
type End = "ok" | "500" | "410" | "late410" | "first"

const transitionOf = (end: End) =>
  transition(
    { status: "retrying", attempt_count: end === "first" ? 0 : 3, is_test: false, all_gone: end === "410" },
    { _tag: "Answered", status: end === "ok" ? 200 : end.endsWith("410") ? 410 : 500 },
    "standard"
  )

/** Claimed rows with their outcomes. */
const claimed = Effect.fnUntraced(function*(webhookId: WebhookId, ends: ReadonlyArray<End>) {
  const sql = yield* SqlClient.SqlClient
  return yield* Effect.forEach(
    ends,
    Effect.fnUntraced(function*(end) {
      const [row] = yield* sql`insert into webhook_queue (webhook_id, event_id, event, status, attempt_count)
        values (${webhookId}, 'evt_1', 'email.sent', 'taken', ${end === "first" ? 0 : 3}) returning id, due_at`
      return {
        webhookId,
        deliveryId: DeliveryId.make(Number(row?.["id"])),
        claimedAt: Timestamp.make(String(row?.["due_at"])),
        startedAt: 1_896_080_400_000,
        durationMs: 1,
        responseBody: null,
        retryAfter: null,
        transition: transitionOf(end)
      }
    })
  )
})

/** Records all at once, so that they are written as one group. */
const record = (outcomes: DeliveryOutcomes["Service"], records: ReadonlyArray<AttemptRecord>) =>
  Effect.callback<ReadonlyArray<Exit.Exit<void>>>((resume) => {
    const exits: Array<Exit.Exit<void>> = []
    for (const one of records) {
      outcomes.record(one, (exit) => {
        if (exits.push(exit) === records.length) resume(Effect.succeed(exits))
      })
    }
  })

/** A webhook whose deliveries end in a test. */
const webhook = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const outcomes = yield* DeliveryOutcomes
  const stored = yield* storedWebhook
  return {
    ...stored,
    end: (...ends: ReadonlyArray<End>) =>
      Effect.flatMap(claimed(stored.id, ends), (records) => record(outcomes, records)),
    failingFor: (seconds: number) =>
      sql`update webhooks set failing_since = now() - ${seconds} * interval '1 second' where id = ${stored.id}`,
    rows: Effect.map(
      sql`select status from webhook_queue where webhook_id = ${stored.id}
        union all select status from webhook_deliveries where webhook_id = ${stored.id}`,
      (found) => found.map(({ status }) => status)
    )
  }
})

layer(Subject, { excludeTestServices: true })("DeliveryOutcomes", (it) => {
  it.effect("counts deliveries that used up all attempts until one succeeds", () =>
    Effect.gen(function*() {
      const { end, failingFor, state } = yield* webhook
      yield* end("first")
      assert.deepStrictEqual(yield* state, { unhealthy_reason: null, failure_count: 0, seconds: null })
      yield* end("500")
      assert.deepStrictEqual(yield* state, { unhealthy_reason: null, failure_count: 1, seconds: 0 })
      yield* failingFor(100)
      yield* end("500", "first")
      assert.deepStrictEqual(yield* state, { unhealthy_reason: null, failure_count: 2, seconds: 100 })
      yield* end("ok")
      assert.deepStrictEqual(yield* state, { unhealthy_reason: null, failure_count: 0, seconds: null })
    }))

  it.effect("marks a webhook as failing after enough failures in a row and enough time without a success", () =>
    Effect.gen(function*() {
      const { end, failingFor, id, notices, state } = yield* webhook
      yield* end("500", "500", "500", "500")
      assert.deepStrictEqual(yield* state, { unhealthy_reason: null, failure_count: 4, seconds: 0 })
      yield* failingFor(590)
      yield* end("500")
      assert.strictEqual((yield* state).unhealthy_reason, null)
      yield* failingFor(600)
      yield* end("500")
      assert.deepStrictEqual(yield* state, { unhealthy_reason: "failing", failure_count: 6, seconds: 600 })
      const [notice, ...others] = yield* notices
      assert.deepInclude(notice, { kind: "webhook_unhealthy", once: `${id} failing` })
      assert.include(notice?.body, "6 deliveries in a row used up all attempts")
      assert.deepStrictEqual(others, [])
    }))

  it.effect("marks a webhook as failing after one failure at this service's own receiver, not at the same path elsewhere", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const reasonAt = Effect.fnUntraced(function*(origin: string) {
        const { end, id, state } = yield* webhook
        yield* sql`update webhooks set url = ${`${origin}/sandbox/receiver/1-AAAAAAAAAAAAAAAA`} where id = ${id}`
        yield* end("500")
        return (yield* state).unhealthy_reason
      })
      assert.strictEqual(yield* reasonAt("https://messages.example"), "failing")
      assert.isNull(yield* reasonAt("https://shop.example"))
      assert.isNull(yield* reasonAt("https://messages.example.shop.example"))
    }))

  it.effect("leaves a webhook healthy that has failed for long, but not often enough", () =>
    Effect.gen(function*() {
      const { end, failingFor, notices, state } = yield* webhook
      yield* end("500")
      yield* failingFor(6_000)
      yield* end("500")
      assert.deepStrictEqual(yield* state, { unhealthy_reason: null, failure_count: 2, seconds: 6_000 })
      assert.deepStrictEqual(yield* notices, [])
      yield* end("500")
      assert.strictEqual((yield* state).unhealthy_reason, "failing")
    }))

  it.effect("restarts the failure count after a success in the same group", () =>
    Effect.gen(function*() {
      const { end, failingFor, state } = yield* webhook
      yield* end("500", "500")
      yield* failingFor(6_000)
      yield* end("500", "410", "ok", "500")
      assert.deepStrictEqual(yield* state, { unhealthy_reason: null, failure_count: 1, seconds: 0 })
      yield* failingFor(6_000)
      yield* end("500", "500", "410", "ok")
      assert.deepStrictEqual(yield* state, { unhealthy_reason: null, failure_count: 0, seconds: null })
    }))

  it.effect("marks a webhook as gone when all attempts of one delivery met 410, not when only the last did", () =>
    Effect.gen(function*() {
      const { end, notices, state } = yield* webhook
      yield* end("late410")
      assert.deepStrictEqual(yield* state, { unhealthy_reason: null, failure_count: 1, seconds: 0 })
      yield* end("410")
      assert.deepStrictEqual(yield* state, { unhealthy_reason: "gone", failure_count: 2, seconds: 0 })
      assert.include((yield* notices)[0]?.body, "410 Gone")
    }))

  it.effect("keeps the first reason of an unhealthy webhook and notifies its owner once", () =>
    Effect.gen(function*() {
      const { end, notices, state } = yield* webhook
      yield* end("410")
      yield* end("500", "500", "500", "410")
      assert.deepInclude(yield* state, { unhealthy_reason: "gone", failure_count: 5 })
      yield* end("ok")
      assert.deepInclude(yield* state, { unhealthy_reason: "gone", failure_count: 0 })
      assert.strictEqual((yield* notices).length, 1)
    }))

  it.effect("replaces the reason backlog_full, which would end by itself", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { end, id, state } = yield* webhook
      yield* sql`update webhooks set unhealthy_reason = 'backlog_full' where id = ${id}`
      yield* end("500")
      assert.strictEqual((yield* state).unhealthy_reason, "backlog_full")
      yield* end("410")
      assert.strictEqual((yield* state).unhealthy_reason, "gone")
    }))

  it.effect("does not mark a disabled webhook as unhealthy", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { end, id, notices, state } = yield* webhook
      yield* sql`update webhooks set is_active = false where id = ${id}`
      yield* end("410")
      assert.deepInclude(yield* state, { unhealthy_reason: null, failure_count: 1 })
      assert.deepStrictEqual(yield* notices, [])
    }))

  it.effect("counts outcomes once when they are written again after an unconfirmed commit", () =>
    Effect.gen(function*() {
      const outcomes = yield* DeliveryOutcomes
      const { id, rows, state } = yield* webhook
      const records = yield* claimed(id, ["500", "500"])
      yield* record(outcomes, records)
      yield* record(outcomes, records)
      assert.deepInclude(yield* state, { unhealthy_reason: null, failure_count: 2 })
      assert.deepStrictEqual(yield* rows, ["failed", "failed"])
    }))

  it.effect("writes the outcome of a locally dispatched delivery once, and only at the expected attempt", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const outcomes = yield* DeliveryOutcomes
      const { id, rows } = yield* webhook
      const records = yield* claimed(id, ["first", "ok"])
      yield* sql`update webhook_queue set status = 'pending', attempt_count = 0 where webhook_id = ${id}`
      yield* record(outcomes, records)
      assert.deepStrictEqual((yield* rows).toSorted(), ["pending", "retrying"])
      const expected = records.map((one) => ({ ...one, transition: { ...one.transition, attempt_count: 1 } }))
      yield* record(outcomes, expected)
      assert.deepStrictEqual((yield* rows).toSorted(), ["delivered", "retrying"])
    }))

  it.effect("queues the next attempt five seconds after the end of the first, however long that took", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const outcomes = yield* DeliveryOutcomes
      const { id } = yield* webhook
      const minuteAgo = (yield* Clock.currentTimeMillis) - 60_000
      const records = yield* claimed(id, ["first"])
      yield* record(outcomes, records.map((one) => ({ ...one, startedAt: minuteAgo, durationMs: 60_000 })))
      const [row] = yield* sql`select extract(epoch from due_at - now())::float8 as seconds from webhook_queue
        where webhook_id = ${id} and status = 'retrying'`
      assert.isAtMost(Number(row?.["seconds"]), 5)
      // Counted from the start of the first, it would be a minute ago.
      assert.isAbove(Number(row?.["seconds"]), -30)
    }))

  it.effect("counts the concurrent outcomes of several nodes and notifies the owner once", () =>
    Effect.gen(function*() {
      const [first, second] = [yield* webhook, yield* webhook]
      yield* first.failingFor(6_000)
      const exits = yield* Effect.forEach(
        [[first, second], [second, first], [first, second], [second, first]] as const,
        Effect.fnUntraced(function*(order) {
          const outcomes = Context.get(yield* Layer.build(OtherNode), DeliveryOutcomes)
          const records = yield* Effect.forEach(order, ({ id }) => claimed(id, Array.from({ length: 20 }, () => "500")))
          return yield* Effect.forEach(records, (some) => record(outcomes, some), { concurrency: "unbounded" })
        }),
        { concurrency: "unbounded" }
      )
      assert.isTrue(exits.flat(2).every(Exit.isSuccess))
      assert.deepInclude(yield* first.state, { unhealthy_reason: "failing", failure_count: 80 })
      assert.deepInclude(yield* second.state, { unhealthy_reason: null, failure_count: 80 })
      assert.deepStrictEqual([(yield* first.notices).length, (yield* second.notices).length], [1, 0])
    }))

  it.effect("leaves the state, the notices and the deliveries unchanged when the commit fails", () =>
    Effect.gen(function*() {
      const { end, notices, refusingCommits, rows, state } = yield* webhook
      const exits = yield* Effect.scoped(Effect.andThen(refusingCommits, end("410")))
      assert.isTrue(exits.every(Exit.isFailure))
      assert.deepStrictEqual(yield* state, { unhealthy_reason: null, failure_count: 0, seconds: null })
      assert.deepStrictEqual([yield* notices, yield* rows], [[], ["taken"]])
    }))
})

const Sign = Schema.Struct({
  webhookId: Schema.Literals([1, 2, 3]),
  health: Schema.Literals(["success", "exhausted", "gone", "undecided"])
})

const changesOf = (signs: ReadonlyArray<typeof Sign.Type>) =>
  healthChanges(
    signs.map(({ health, webhookId }) => ({ webhookId: WebhookId.make(webhookId), transition: { health } }))
  )

const decided = (signs: ReadonlyArray<typeof Sign.Type>, id: WebhookId) =>
  signs.flatMap(({ health, webhookId }) => webhookId === id && health !== "undecided" ? [health] : [])

describe("healthChanges", () => {
  it.prop(
    "counts for each webhook the deliveries that used up their attempts after the last success",
    [Schema.Array(Sign)],
    ([signs]) => {
      const changes = changesOf(signs)
      assert.strictEqual(changes.length, [1, 2, 3].filter((id) => decided(signs, WebhookId.make(id)).length > 0).length)
      for (const { exhausted, id, succeeded } of changes) {
        const ends = decided(signs, id)
        assert.strictEqual(exhausted, ends.length - 1 - ends.lastIndexOf("success"))
        assert.strictEqual(succeeded, ends.includes("success"))
      }
    }
  )

  it.prop("marks a webhook as gone when a delivery after the last success met only 410", [Schema.Array(Sign)], ([
    signs
  ]) => {
    for (const { gone, id } of changesOf(signs)) {
      const ends = decided(signs, id)
      assert.strictEqual(gone, ends.slice(ends.lastIndexOf("success") + 1).includes("gone"))
    }
  })
})
