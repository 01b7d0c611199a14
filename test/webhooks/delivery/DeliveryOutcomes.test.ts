import { assert, layer } from "@effect/vitest"
import { Context, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Database } from "../../../src/platform/database/Database.ts"
import { DeliveryId, type WebhookId } from "../../../src/values/Ids.ts"
import { type AttemptRecord, DeliveryOutcomes } from "../../../src/webhooks/delivery/DeliveryOutcomes.ts"
import { transition } from "../../../src/webhooks/delivery/DeliveryState.ts"
import { UnhealthyNotifier } from "../../../src/webhooks/endpoint/UnhealthyNotifier.ts"
import { alarmed, storedWebhook } from "../../support/webhookHealth.ts"

const Subject = DeliveryOutcomes.layer.pipe(
  Layer.provideMerge(alarmed({ WEBHOOK_UNHEALTHY_FAILURES: "3", WEBHOOK_UNHEALTHY_SECONDS: "600" }))
)

/** Another node's writer: with a pool of its own. */
const OtherNode = Layer.fresh(
  DeliveryOutcomes.layer.pipe(Layer.provide(UnhealthyNotifier.layer), Layer.provide(Database.layerQueue))
)

/** How a last attempt ends; `late410` is answered with 410 after other answers, `first` is a first attempt that fails. */
type End = "ok" | "500" | "410" | "late410" | "first"

const transitionOf = (end: End) =>
  transition(
    { status: "retrying", attempt_count: end === "first" ? 0 : 3, is_test: false, all_gone: end === "410" },
    { _tag: "Answered", status: end === "ok" ? 200 : end.endsWith("410") ? 410 : 500 }
  )

/** Rows in the hands of their actor, with what came of them. */
const taken = Effect.fnUntraced(function*(webhookId: WebhookId, ends: ReadonlyArray<End>) {
  const sql = yield* SqlClient.SqlClient
  return yield* Effect.forEach(
    ends,
    Effect.fnUntraced(function*(end) {
      const [row] = yield* sql`insert into webhook_queue (webhook_id, event_id, event, status, attempt_count)
        values (${webhookId}, 'evt_1', 'email.sent', 'taken', ${end === "first" ? 0 : 3}) returning id`
      return {
        webhookId,
        deliveryId: DeliveryId.make(Number(row?.["id"])),
        startedAt: 1_896_080_400_000,
        durationMs: 1,
        responseBody: null,
        retryAfter: null,
        transition: transitionOf(end)
      }
    })
  )
})

/** Told all at once, so that they are written as one group. */
const tell = (outcomes: DeliveryOutcomes["Service"], records: ReadonlyArray<AttemptRecord>) =>
  Effect.callback<ReadonlyArray<Exit.Exit<void>>>((resume) => {
    const exits: Array<Exit.Exit<void>> = []
    for (const record of records) {
      outcomes.record(record, (exit) => {
        if (exits.push(exit) === records.length) resume(Effect.succeed(exits))
      })
    }
  })

/** A webhook whose deliveries end. */
const webhook = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const outcomes = yield* DeliveryOutcomes
  const stored = yield* storedWebhook
  return {
    ...stored,
    end: (...ends: ReadonlyArray<End>) => Effect.flatMap(taken(stored.id, ends), (records) => tell(outcomes, records)),
    failingFor: (seconds: number) =>
      sql`update webhooks set failing_since = now() - ${seconds} * interval '1 second' where id = ${stored.id}`,
    rows: Effect.map(
      sql`select status from webhook_queue where webhook_id = ${stored.id}
        union all select status from webhook_deliveries where webhook_id = ${stored.id}`,
      (found) => found.map(({ status }) => status)
    )
  }
})

layer(Subject, { excludeTestServices: true })("the outcomes of deliveries", (it) => {
  it.effect("count those that used up all attempts, from the first one on, until one succeeds", () =>
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

  it.effect("make a webhook unhealthy when there are enough in a row and nothing has succeeded for long enough", () =>
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

  it.effect("leave a webhook healthy that has failed for long, but not often enough", () =>
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

  it.effect("begin anew after a success in the same group, and forget what came before one", () =>
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

  it.effect("make a webhook unhealthy at once when all attempts of one met 410 Gone, and not when only the last did", () =>
    Effect.gen(function*() {
      const { end, notices, state } = yield* webhook
      yield* end("late410")
      assert.deepStrictEqual(yield* state, { unhealthy_reason: null, failure_count: 1, seconds: 0 })
      yield* end("410")
      assert.deepStrictEqual(yield* state, { unhealthy_reason: "gone", failure_count: 2, seconds: 0 })
      assert.include((yield* notices)[0]?.body, "410 Gone")
    }))

  it.effect("keep the reason for which it became unhealthy, whatever still ends, and tell of it once", () =>
    Effect.gen(function*() {
      const { end, notices, state } = yield* webhook
      yield* end("410")
      yield* end("500", "500", "500", "410")
      assert.deepInclude(yield* state, { unhealthy_reason: "gone", failure_count: 5 })
      yield* end("ok")
      assert.deepInclude(yield* state, { unhealthy_reason: "gone", failure_count: 0 })
      assert.strictEqual((yield* notices).length, 1)
    }))

  it.effect("take the place of a backlog as the reason: that one would end by itself", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { end, id, state } = yield* webhook
      yield* sql`update webhooks set unhealthy_reason = 'backlog_full' where id = ${id}`
      yield* end("500")
      assert.strictEqual((yield* state).unhealthy_reason, "backlog_full")
      yield* end("410")
      assert.strictEqual((yield* state).unhealthy_reason, "gone")
    }))

  it.effect("do not judge a webhook that its owner has switched off", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { end, id, notices, state } = yield* webhook
      yield* sql`update webhooks set is_active = false where id = ${id}`
      yield* end("410")
      assert.deepInclude(yield* state, { unhealthy_reason: null, failure_count: 1 })
      assert.deepStrictEqual(yield* notices, [])
    }))

  it.effect("count once when they are written again, as after a commit whose answer got lost", () =>
    Effect.gen(function*() {
      const outcomes = yield* DeliveryOutcomes
      const { id, rows, state } = yield* webhook
      const records = yield* taken(id, ["500", "500"])
      yield* tell(outcomes, records)
      yield* tell(outcomes, records)
      assert.deepInclude(yield* state, { unhealthy_reason: null, failure_count: 2 })
      assert.deepStrictEqual(yield* rows, ["failed", "failed"])
    }))

  it.effect("are written of what came past the table as well, once and only for the attempt that was expected", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const outcomes = yield* DeliveryOutcomes
      const { id, rows } = yield* webhook
      const records = yield* taken(id, ["first", "ok"])
      yield* sql`update webhook_queue set status = 'pending', attempt_count = 0 where webhook_id = ${id}`
      yield* tell(outcomes, records)
      assert.deepStrictEqual((yield* rows).toSorted(), ["pending", "retrying"])
      const expected = records.map((one) => ({ ...one, transition: { ...one.transition, attempt_count: 1 } }))
      yield* tell(outcomes, expected)
      assert.deepStrictEqual((yield* rows).toSorted(), ["delivered", "retrying"])
    }))

  it.effect("of several nodes at the same time are all counted, and tell the owner once", () =>
    Effect.gen(function*() {
      const [first, second] = [yield* webhook, yield* webhook]
      yield* first.failingFor(6_000)
      const exits = yield* Effect.forEach(
        [[first, second], [second, first], [first, second], [second, first]] as const,
        Effect.fnUntraced(function*(order) {
          const outcomes = Context.get(yield* Layer.build(OtherNode), DeliveryOutcomes)
          const records = yield* Effect.forEach(order, ({ id }) => taken(id, Array.from({ length: 20 }, () => "500")))
          return yield* Effect.forEach(records, (some) => tell(outcomes, some), { concurrency: "unbounded" })
        }),
        { concurrency: "unbounded" }
      )
      assert.isTrue(exits.flat(2).every(Exit.isSuccess))
      assert.deepInclude(yield* first.state, { unhealthy_reason: "failing", failure_count: 80 })
      assert.deepInclude(yield* second.state, { unhealthy_reason: null, failure_count: 80 })
      assert.deepStrictEqual([(yield* first.notices).length, (yield* second.notices).length], [1, 0])
    }))

  it.effect("that cannot be committed leave neither the state, nor its notice, nor an ended delivery", () =>
    Effect.gen(function*() {
      const { end, notices, refusingCommits, rows, state } = yield* webhook
      const exits = yield* Effect.scoped(Effect.andThen(refusingCommits, end("410")))
      assert.isTrue(exits.every(Exit.isFailure))
      assert.deepStrictEqual(yield* state, { unhealthy_reason: null, failure_count: 0, seconds: null })
      assert.deepStrictEqual([yield* notices, yield* rows], [[], ["taken"]])
    }))
})
