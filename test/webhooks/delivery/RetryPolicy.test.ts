import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { maxAttempts, nextDelay, RetryPolicy } from "../../../src/webhooks/delivery/RetryPolicy.ts"

describe("RetryPolicy", () => {
  it.effect("makes four attempts, at 0, 5, 35 and 155 seconds, then gives up", () =>
    Effect.gen(function*() {
      const at: Array<number> = []
      const attempt = Clock.currentTimeMillis.pipe(
        Effect.map((now) => at.push(now)),
        Effect.andThen(Effect.fail("no response"))
      )
      const fiber = yield* Effect.forkChild(Effect.flip(Effect.retry(attempt, RetryPolicy)))
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* Fiber.join(fiber), "no response")
      assert.deepStrictEqual(at, [0, 5_000, 35_000, 155_000])
    }))

  it("gives the same delays by attempt number", () => {
    const millis = [1, 2, 3, 4].map(nextDelay).map((delay) => delay === undefined ? delay : Duration.toMillis(delay))
    assert.deepStrictEqual(millis, [5_000, 30_000, 120_000, undefined])
    assert.strictEqual(maxAttempts, 4)
  })

  it("gives no delay for an invalid attempt number", () => {
    for (const attempt of [-1, 0, 0.5, 5, 1e9, Number.NaN]) assert.isUndefined(nextDelay(attempt))
  })
})
