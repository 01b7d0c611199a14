import { assert, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { PendingCheckSchedule } from "../../src/email-domains/PendingCheckSchedule.ts"

it.effect("checks a pending domain at minutes 1 to 5, 15 to 65, then hourly, 82 times in three days", () =>
  Effect.gen(function*() {
    const minutes: Array<number> = []
    const check = Effect.map(Clock.currentTimeMillis, (millis) => void minutes.push(millis / 60_000))
    const fiber = yield* Effect.forkChild(Effect.repeat(check, PendingCheckSchedule))
    yield* TestClock.adjust("4 days")
    yield* Fiber.join(fiber)
    assert.deepStrictEqual(minutes.slice(0, 14), [0, 1, 2, 3, 4, 5, 15, 25, 35, 45, 55, 65, 125, 185])
    assert.strictEqual(minutes.length, 83)
    assert.strictEqual(minutes.at(-1), 72 * 60 + 5)
  }))
