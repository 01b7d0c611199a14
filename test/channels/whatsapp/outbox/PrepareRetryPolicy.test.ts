import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import {
  maxPrepareAttempts,
  nextPrepareDelay,
  PrepareRetryPolicy
} from "../../../../src/channels/whatsapp/outbox/PrepareRetryPolicy.ts"

describe("PrepareRetryPolicy", () => {
  it.effect("makes five attempts, at 0, 2, 6, 14 and 30 seconds, then gives up", () =>
    Effect.gen(function*() {
      const at: Array<number> = []
      const attempt = Effect.flatMap(Clock.currentTimeMillis, (now) => {
        at.push(now / 1000)
        return Effect.fail("no answer")
      })
      const fiber = yield* Effect.forkChild(Effect.flip(Effect.retry(attempt, PrepareRetryPolicy)))
      yield* TestClock.adjust("1 day")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(at, [0, 2, 6, 14, 30])
    }))

  it("gives durable attempts the same delays, and none after the last", () => {
    const delays = Array.from({ length: maxPrepareAttempts }, (_, index) => nextPrepareDelay(index + 1))
    assert.strictEqual(delays.at(-1), undefined)
    const seconds = delays.map((delay) => delay === undefined ? undefined : Duration.toSeconds(delay))
    assert.deepStrictEqual(seconds, [2, 4, 8, 16, undefined])
  })
})
