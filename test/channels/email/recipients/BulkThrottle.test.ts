import { describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { expect } from "vitest"
import { BulkThrottle, courtesy, interval } from "../../../../src/channels/email/recipients/BulkThrottle.ts"

/** The milliseconds after which each of `count` recipients got its turn, asked for by two batches. */
const turns = Effect.fnUntraced(function*(count: number) {
  const { turn } = yield* BulkThrottle
  const begin = yield* Clock.currentTimeMillis
  const timed = Effect.andThen(turn, Clock.currentTimeMillis)
  const batch = Effect.replicateEffect(timed, count / 2)
  const both = yield* Effect.forkChild(Effect.all([batch, batch], { concurrency: 2 }))
  yield* TestClock.adjust("10 seconds")
  return (yield* Fiber.join(both)).flat().map((at) => at - begin).toSorted((a, b) => a - b)
})

describe("the pace of batches", () => {
  it.effect("is no bound while nobody sends single emails", () =>
    Effect.gen(function*() {
      expect(yield* turns(100)).toEqual(Array.from({ length: 100 }, () => 0))
    }).pipe(Effect.provide(BulkThrottle.layer)))

  it.effect("is one recipient at a time over all batches of the node while somebody does", () =>
    Effect.gen(function*() {
      yield* (yield* BulkThrottle).yieldToSingle
      expect(yield* turns(20)).toEqual(Array.from({ length: 20 }, (_, index) => index * interval))
    }).pipe(Effect.provide(BulkThrottle.layer)))

  it.effect("goes by no clock that can be set back", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_000_000)
      yield* (yield* BulkThrottle).yieldToSingle
      yield* turns(20)
      yield* TestClock.setTime(0)
      expect(yield* turns(20)).toEqual(Array.from({ length: 20 }, () => 0))
    }).pipe(Effect.provide(BulkThrottle.layer)))

  it.effect("is none again once the last single email is a while ago", () =>
    Effect.gen(function*() {
      yield* (yield* BulkThrottle).yieldToSingle
      const slow = Math.ceil(courtesy / interval)
      const all = yield* turns(slow + 100)
      expect(all.slice(0, slow)).toEqual(Array.from({ length: slow }, (_, index) => index * interval))
      const last = all.at(-1) ?? Infinity
      expect(last).toBeLessThan(courtesy + 3 * interval)
    }).pipe(Effect.provide(BulkThrottle.layer)))
})
