import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { DeliveryId } from "../../../src/values/Ids.ts"
import { greatestWidth, widthAfter } from "../../../src/webhooks/delivery/concurrencyLimit.ts"
import { Waiting } from "../../../src/webhooks/delivery/FairQueue.ts"
import type { Taken } from "../../../src/webhooks/delivery/QueueRepo.ts"

const delivery = (id: number, attempt_count: number): Taken => ({
  id: DeliveryId.make(id),
  event_id: `evt_${id}`,
  event: "email.sent",
  attempt_count,
  is_test: false,
  all_gone: false,
  body: new Uint8Array()
})

const drained = (waiting: Waiting) => {
  const taken: Array<Taken> = []
  for (let next = waiting.next(); next !== undefined; next = waiting.next()) taken.push(next)
  return taken
}

const Size = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 }))

describe("what waits in memory for a webhook", () => {
  it.prop("is given out once each, first attempts in their order and retries in theirs", [
    Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 3 })))
  ], ([attempts]) => {
    const waiting = new Waiting()
    const all = attempts.map((attempt, index) => delivery(index + 1, attempt))
    for (const one of all) waiting.push([one])
    assert.strictEqual(waiting.size, all.length)
    const taken = drained(waiting)
    for (const isFresh of [true, false]) {
      const own = (list: ReadonlyArray<Taken>) => list.filter((one) => (one.attempt_count === 0) === isFresh)
      assert.deepStrictEqual(own(taken), own(all))
    }
    assert.strictEqual(waiting.size, 0)
  })

  it.prop("is a retry in one turn of four while first attempts wait", [Size, Size], ([fresh, retries]) => {
    const waiting = new Waiting()
    waiting.push(Array.from({ length: retries }, (_, index) => delivery(index + 1, 1)))
    waiting.push(Array.from({ length: fresh }, (_, index) => delivery(index + 1000, 0)))
    const turns = Array.from({ length: Math.min(fresh, retries * 4) }, () => waiting.next())
    const late = turns.filter((one) => one?.attempt_count === 1).length
    assert.strictEqual(late, Math.floor(turns.length / 4))
  })
})

describe("the width of a webhook", () => {
  it("falls from eight to one by three failures, and ten successes give a place back", () => {
    const after = (start: number, outcomes: ReadonlyArray<boolean>) => outcomes.reduce(widthAfter, start)
    assert.strictEqual(after(greatestWidth, [false, false, false]), 1)
    assert.strictEqual(Math.floor(after(1, Array.from({ length: 11 }, () => true))), 2)
  })

  it.prop("stays between one and eight", [Schema.Array(Schema.Boolean)], ([outcomes]) => {
    const width = outcomes.reduce(widthAfter, greatestWidth)
    assert.isTrue(width >= 1 && width <= greatestWidth)
  })
})
