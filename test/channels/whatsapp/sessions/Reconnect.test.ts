import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { pauseAfter, reconnectSchedule } from "../../../../src/channels/whatsapp/sessions/Reconnect.ts"

const settings = { whatsappRetries: 30, whatsappRetrySeconds: 1, whatsappRetryLongestSeconds: 300 }

const least = (failures: number) => Math.min(1000 * 2 ** (failures - 1), 300_000)

describe("reconnectSchedule", () => {
  it.effect("makes 30 retries, from one second to five minutes apart, in about two hours, then gives up", () =>
    Effect.gen(function*() {
      const at: Array<number> = []
      const attempt = Clock.currentTimeMillis.pipe(
        Effect.map((now) => at.push(now)),
        Effect.andThen(Effect.fail("lost"))
      )
      const fiber = yield* Effect.forkChild(Effect.flip(Effect.retry(attempt, reconnectSchedule(settings))))
      yield* TestClock.adjust("4 hours")
      assert.strictEqual(yield* Fiber.join(fiber), "lost")
      assert.strictEqual(at.length, 31)
      const pauses = at.slice(1).map((time, index) => time - (at[index] ?? 0))
      pauses.forEach((pause, index) => {
        assert.isAtLeast(pause, 0.8 * least(index + 1) - 1)
        assert.isAtMost(pause, 1.2 * least(index + 1) + 1)
      })
      assert.isTrue((at.at(-1) ?? 0) > 90 * 60_000 && (at.at(-1) ?? 0) < 145 * 60_000)
    }))

  it.effect("gives the same pause for a number of failures, so that another node can continue", () =>
    Effect.gen(function*() {
      for (const failures of [1, 2, 9, 10, 30]) {
        const pause = Duration.toMillis(yield* pauseAfter(settings, failures))
        assert.isTrue(pause >= 0.8 * least(failures) - 1 && pause <= 1.2 * least(failures) + 1)
      }
      assert.strictEqual(Duration.toMillis(yield* pauseAfter(settings, 0)), 0)
    }))
})
