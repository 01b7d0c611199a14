import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { PeriodicTask } from "../../../src/platform/work/PeriodicTask.ts"

describe("PeriodicTask", () => {
  it.effect("runs again after each pause, also after a failure or a defect", () =>
    Effect.gen(function*() {
      let runs = 0
      const task = Effect.suspend(() => {
        runs += 1
        return runs === 1 ? Effect.fail("a failure") : runs === 2 ? Effect.die("a defect") : Effect.void
      })
      yield* Effect.forkChild(PeriodicTask.repeat("test", "1 second", task), { startImmediately: true })
      assert.strictEqual(runs, 1)
      yield* TestClock.adjust("3 seconds")
      assert.strictEqual(runs, 4)
    }))
})
