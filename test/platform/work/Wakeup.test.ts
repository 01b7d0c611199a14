import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Wakeup } from "../../../src/platform/work/Wakeup.ts"

const waiting = (wakeup: Wakeup) => Effect.forkChild(wakeup.wait("1 second"), { startImmediately: true })

describe("Wakeup", () => {
  it.effect("keeps one signal for a worker that is busy, however many came", () =>
    Effect.gen(function*() {
      const wakeup = yield* Wakeup.make
      yield* wakeup.signal
      wakeup.signalUnsafe()
      yield* wakeup.wait("1 second")
      const second = yield* waiting(wakeup)
      yield* TestClock.adjust("999 millis")
      assert.isUndefined(second.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(second)
    }))

  it.effect("ends a wait at once when it is signalled", () =>
    Effect.gen(function*() {
      const wakeup = yield* Wakeup.make
      const worker = yield* waiting(wakeup)
      yield* wakeup.signal
      yield* Fiber.join(worker)
    }))
})
