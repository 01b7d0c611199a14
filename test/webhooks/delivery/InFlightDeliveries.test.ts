import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { DeliveryId } from "../../../src/values/Ids.ts"
import { adjustLimit, FairQueue, maxConcurrency } from "../../../src/webhooks/delivery/InFlightDeliveries.ts"
import type { ClaimedDelivery } from "../../../src/webhooks/delivery/QueueRepo.ts"

const delivery = (id: number, attempt_count: number): ClaimedDelivery => ({
  id: DeliveryId.make(id),
  event_id: `evt_${id}`,
  event: "email.sent",
  attempt_count,
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
