import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, FiberSet, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import { AccountId, DeliveryId, WebhookId } from "../../../src/values/Ids.ts"
import { DeliveryOutcomes } from "../../../src/webhooks/delivery/DeliveryOutcomes.ts"
import { transition } from "../../../src/webhooks/delivery/DeliveryState.ts"
import {
  adjustLimit,
  DeliveryBudget,
  FairQueue,
  InFlightDeliveries,
  maxConcurrency
} from "../../../src/webhooks/delivery/InFlightDeliveries.ts"
import type { ClaimedDelivery } from "../../../src/webhooks/delivery/QueueRepo.ts"
import { signingKey } from "../../../src/webhooks/endpoint/WebhookSecret.ts"

const delivery = (id: number, attempt_count: number): ClaimedDelivery => ({
  id: DeliveryId.make(id),
  event_id: `evt_${id}`,
  event: "email.sent",
  attempt_count,
  claimed_at: null,
  is_test: false,
  all_gone: false,
  body: new Uint8Array()
})

const drained = (queue: FairQueue) => {
  const drawn: Array<ClaimedDelivery> = []
  for (let next = queue.next(); next !== undefined; next = queue.next()) drawn.push(next)
  return drawn
}

const Size = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 }))

describe("FairQueue", () => {
  it.prop("returns each delivery once, first attempts in their order and retries in theirs", [
    Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 })))
  ], ([attempts]) => {
    const queue = new FairQueue()
    const all = attempts.map((attempt, index) => delivery(index + 1, attempt))
    for (const one of all) queue.push([one])
    assert.strictEqual(queue.size, all.length)
    const drawn = drained(queue)
    for (const isFirst of [true, false]) {
      const own = (list: ReadonlyArray<ClaimedDelivery>) => list.filter((one) => (one.attempt_count === 0) === isFirst)
      assert.deepStrictEqual(own(drawn), own(all))
    }
    assert.strictEqual(queue.size, 0)
  })

  it.prop(
    "returns a retry in every fourth turn while first attempts wait",
    [Size, Size],
    ([firstAttempts, retries]) => {
      const queue = new FairQueue()
      queue.push(Array.from({ length: retries }, (_, index) => delivery(index + 1, 1)))
      queue.push(Array.from({ length: firstAttempts }, (_, index) => delivery(index + 1000, 0)))
      const turns = Array.from({ length: Math.min(firstAttempts, retries * 4) }, () => queue.next())
      const retried = turns.filter((one) => one?.attempt_count === 1).length
      assert.strictEqual(retried, Math.floor(turns.length / 4))
    }
  )
})

describe("adjustLimit", () => {
  it("falls from eight to one after three failures and rises by one after ten successes", () => {
    const after = (start: number, outcomes: ReadonlyArray<boolean>) => outcomes.reduce(adjustLimit, start)
    assert.strictEqual(after(maxConcurrency, [false, false, false]), 1)
    assert.strictEqual(Math.floor(after(1, Array.from({ length: 11 }, () => true))), 2)
  })

  it.prop("keeps the limit between one and eight", [Schema.Array(Schema.Boolean)], ([outcomes]) => {
    const limit = outcomes.reduce(adjustLimit, maxConcurrency)
    assert.isTrue(limit >= 1 && limit <= maxConcurrency)
  })
})

describe("InFlightDeliveries", () => {
  it.effect("releases a delivery five minutes after the database refused its outcome for good", () =>
    Effect.gen(function*() {
      const webhookId = WebhookId.make(1)
      const clock = yield* Clock.Clock
      const attempt = (_: WebhookId, __: unknown, { id, ...claimed }: ClaimedDelivery) =>
        Effect.succeed({
          webhookId,
          deliveryId: id,
          claimedAt: null,
          startedAt: 0,
          durationMs: 1,
          responseBody: null,
          retryAfter: null,
          transition: transition({ ...claimed, status: "pending" }, { _tag: "Answered", status: 200 }, "standard")
        })
      const inFlight = new InFlightDeliveries({
        webhookId,
        onChange: () => {},
        attempts: { attempt, endpointOf: () => Effect.die("not called") },
        outcomes: DeliveryOutcomes.of({ record: (_, done) => done(Exit.die("refused")) }),
        budget: yield* DeliveryBudget,
        clock,
        run: yield* FiberSet.makeRuntime<never, void, never>()
      })
      const key = signingKey(Redacted.make("whsec_c2VjcmV0"))
      inFlight.add([delivery(7, 0)])
      inFlight.sendTo({
        account: AccountId.make(1),
        url: new URL("https://hooks.example/"),
        key,
        previous: undefined,
        retryPolicy: "standard",
        headers: {}
      })
      yield* TestClock.adjust("299 seconds")
      assert.deepStrictEqual([inFlight.has(DeliveryId.make(7)), inFlight.isBusy], [true, false])
      yield* TestClock.adjust("1 second")
      assert.strictEqual(inFlight.size, 0)
    }).pipe(Effect.provide(DeliveryBudget.layer)))
})
