import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { maxAttempts, nextDelay, SendRetryPolicy } from "../../../../src/channels/email/recipients/SendRetryPolicy.ts"

const offsets = [0, 30, 150, 750, 2550, 6150, 13_350, 27_750]

describe("SendRetryPolicy", () => {
  it.effect("makes eight attempts within eight hours, then gives up", () =>
    Effect.gen(function*() {
      const at: Array<number> = []
      const offer = Effect.flatMap(Clock.currentTimeMillis, (now) => {
        at.push(now / 1000)
        return Effect.fail("451 try again later")
      })
      const fiber = yield* Effect.forkChild(Effect.flip(Effect.retry(offer, SendRetryPolicy)))
      yield* TestClock.adjust("1 day")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(at, offsets)
    }))

  it("gives durable attempts the same delays", () => {
    const delays = Array.from({ length: maxAttempts }, (_, index) => nextDelay(index + 1))
    assert.strictEqual(delays.at(-1), undefined)
    const seconds = delays.slice(0, -1).map((delay) => delay === undefined ? 0 : Duration.toSeconds(delay))
    assert.deepStrictEqual(seconds, offsets.slice(1).map((offset, index) => offset - (offsets[index] ?? 0)))
  })
})
