import { describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { expect } from "vitest"
import { BulkThrottle, interval, slowdownWindow } from "../../../../src/channels/email/recipients/BulkThrottle.ts"

/** Starts `count` recipients of two batches and returns the milliseconds after which each one started. */
const starts = Effect.fnUntraced(function*(count: number) {
  const { acquire } = yield* BulkThrottle
  const begin = yield* Clock.currentTimeMillis
  const timed = Effect.andThen(acquire, Clock.currentTimeMillis)
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
      yield* (yield* BulkThrottle).noteSingleEmail
      expect(yield* starts(20)).toEqual(Array.from({ length: 20 }, (_, index) => index * interval))
    }).pipe(Effect.provide(BulkThrottle.layer)))

  it.effect("ignores a wall clock that is set back", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_000_000)
      yield* (yield* BulkThrottle).noteSingleEmail
      yield* starts(20)
      yield* TestClock.setTime(0)
      expect(yield* starts(20)).toEqual(Array.from({ length: 20 }, () => 0))
    }).pipe(Effect.provide(BulkThrottle.layer)))

  it.effect("stops throttling after the slowdown window of the last single email", () =>
    Effect.gen(function*() {
      yield* (yield* BulkThrottle).noteSingleEmail
      const slow = Math.ceil(slowdownWindow / interval)
      const all = yield* starts(slow + 100)
      expect(all.slice(0, slow)).toEqual(Array.from({ length: slow }, (_, index) => index * interval))
      const last = all.at(-1) ?? Infinity
      expect(last).toBeLessThan(slowdownWindow + 3 * interval)
    }).pipe(Effect.provide(BulkThrottle.layer)))
})
