import { describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { expect } from "vitest"
import { BulkThrottle, interval, slowdownWindow } from "../../../../src/channels/email/recipients/BulkThrottle.ts"
import { AccountId } from "../../../../src/values/Ids.ts"

const [ann, bob, eve] = [AccountId.make(1), AccountId.make(2), AccountId.make(3)] as const

/** Starts `count` recipients of two batches and returns the milliseconds after which each one started. */
const starts = Effect.fnUntraced(function*(count: number, account = ann) {
  const { acquire } = yield* BulkThrottle
  const begin = yield* Clock.currentTimeMillis
  const timed = Effect.andThen(acquire(account), Clock.currentTimeMillis)
  const batch = Effect.replicateEffect(timed, count / 2)
  const both = yield* Effect.forkChild(Effect.all([batch, batch], { concurrency: 2 }))
  yield* TestClock.adjust("10 seconds")
  return (yield* Fiber.join(both)).flat().map((at) => at - begin).toSorted((a, b) => a - b)
})

describe("BulkThrottle", () => {
  it.effect("does not delay batches while the node sends no single emails", () =>
    Effect.gen(function*() {
      expect(yield* starts(100)).toEqual(Array.from({ length: 100 }, () => 0))
    }).pipe(Effect.provide(BulkThrottle.layer)))

  it.effect("spaces the recipients of all batches while the node sends single emails", () =>
    Effect.gen(function*() {
      yield* (yield* BulkThrottle).noteSingleEmail(ann)
      expect(yield* starts(20)).toEqual(Array.from({ length: 20 }, (_, index) => index * interval))
    }).pipe(Effect.provide(BulkThrottle.layer)))

  it.effect("ignores a wall clock that is set back", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_000_000)
      yield* (yield* BulkThrottle).noteSingleEmail(ann)
      yield* starts(20)
      yield* TestClock.setTime(0)
      expect(yield* starts(20)).toEqual(Array.from({ length: 20 }, () => 0))
    }).pipe(Effect.provide(BulkThrottle.layer)))

  it.effect("stops throttling after the slowdown window of the last single email", () =>
    Effect.gen(function*() {
      yield* (yield* BulkThrottle).noteSingleEmail(ann)
      const slow = Math.ceil(slowdownWindow / interval)
      const all = yield* starts(slow + 100)
      expect(all.slice(0, slow)).toEqual(Array.from({ length: slow }, (_, index) => index * interval))
      const last = all.at(-1) ?? Infinity
      expect(last).toBeLessThan(slowdownWindow + 3 * interval)
    }).pipe(Effect.provide(BulkThrottle.layer)))

  it.effect("throttles the batches of other accounts for at most half of the time", () =>
    Effect.gen(function*() {
      const { acquire, noteSingleEmail } = yield* BulkThrottle
      const count = { ann: 0, bob: 0 }
      const send = (who: "ann" | "bob", account: AccountId) =>
        acquire(account).pipe(
          Effect.andThen(Effect.sync(() => count[who]++)),
          // As fast as a node can begin recipients.
          Effect.andThen(Effect.sleep("1 millis")),
          Effect.forever,
          Effect.forkChild
        )
      // Single emails all the time, on the test's clock.
      yield* Effect.forkChild(Effect.forever(Effect.andThen(noteSingleEmail(ann), Effect.sleep("50 millis"))))
      yield* TestClock.adjust(1)
      yield* send("ann", ann)
      yield* send("bob", bob)
      yield* TestClock.adjust("10 seconds")
      // Half of 10,000, and their turns in the other half.
      expect(count.bob).toBeGreaterThan(5_000)
      expect(count.ann).toBeLessThan(10_000 / interval + 100)
    }).pipe(Effect.provide(BulkThrottle.layer)))

  it.effect("lets accounts take turns, however many batches one of them has", () =>
    Effect.gen(function*() {
      const { acquire, noteSingleEmail } = yield* BulkThrottle
      yield* noteSingleEmail(eve)
      const order: Array<string> = []
      const start = (name: string, account: AccountId) =>
        Effect.forkChild(Effect.andThen(acquire(account), Effect.sync(() => order.push(name))), {
          startImmediately: true
        })
      yield* Effect.forEach(Array.from({ length: 40 }), () => start("ann", ann))
      yield* start("bob", bob)
      yield* TestClock.adjust("1 second")
      expect(order.length).toBe(41)
      expect(order.indexOf("bob")).toBeLessThan(4)
    }).pipe(Effect.provide(BulkThrottle.layer)))
})
