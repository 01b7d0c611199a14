import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { collectWhenIdle } from "../../../src/app/server/GarbageCollection.ts"

/** The collections after 5 seconds, and after each half minute with these shares of busy time. */
const collections = Effect.fnUntraced(function*(shares: ReadonlyArray<number>) {
  let count = 0
  const left = [...shares]
  yield* Effect.forkScoped(collectWhenIdle({
    collect: () => void count++,
    busyShare: () => left.shift() ?? 0
  }))
  yield* TestClock.adjust("5 seconds")
  const counts = [count]
  for (const _ of shares) {
    yield* TestClock.adjust("30 seconds")
    counts.push(count)
  }
  return counts
})

describe("garbage collection of a node", () => {
  it.effect("a node that stays idle collects once, after its start", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* collections([0.03, 0.02, 0.03]), [1, 1, 1, 1])
    }))

  it.effect("a node that was busy collects once as soon as it is idle, and not before", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* collections([0.5, 0.9, 0.2, 0.05, 0.03, 0.4, 0.01]), [1, 1, 1, 1, 2, 2, 2, 3])
    }))
})
