import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { maxAttempts, nextDelay, retryPolicies } from "../../../src/webhooks/delivery/RetryPolicy.ts"
import { RetryPolicyName } from "../../../src/webhooks/endpoint/Webhook.ts"

/** The moments of attempts that all fail, in milliseconds. */
const attemptsOf = Effect.fnUntraced(function*(policy: RetryPolicyName) {
  const at: Array<number> = []
  const attempt = Clock.currentTimeMillis.pipe(
    Effect.map((now) => at.push(now)),
    Effect.andThen(Effect.fail("no response"))
  )
  const fiber = yield* Effect.forkChild(Effect.flip(Effect.retry(attempt, retryPolicies[policy])))
  yield* TestClock.adjust("3 days")
  assert.strictEqual(yield* Fiber.join(fiber), "no response")
  return at
})

const seconds = 1_000
const minutes = 60 * seconds
const hours = 60 * minutes

describe("retry policies", () => {
  it.effect("the standard one makes four attempts, at 0, 5, 35 and 155 seconds, then gives up", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* attemptsOf("standard"), [0, 5_000, 35_000, 155_000])
    }))

  it.effect("the extended one goes on after 10 minutes and 1, 3, 8 and 16 hours, then gives up", () =>
    Effect.gen(function*() {
      const delays = [5 * seconds, 30 * seconds, 2 * minutes, 10 * minutes, hours, 3 * hours, 8 * hours, 16 * hours]
      const at = delays.reduce((sums, delay) => [...sums, (sums.at(-1) ?? 0) + delay], [0])
      assert.deepStrictEqual(yield* attemptsOf("extended"), at)
      assert.strictEqual(at.at(-1), 101_555_000)
    }))

  it("give the same delays by attempt number", () => {
    const millis = (policy: RetryPolicyName) =>
      Array.from({ length: maxAttempts(policy) }, (_, index) => nextDelay(policy, index + 1))
        .map((delay) => delay === undefined ? delay : Duration.toMillis(delay))
    assert.deepStrictEqual(millis("standard"), [5_000, 30_000, 120_000, undefined])
    assert.deepStrictEqual(millis("extended").slice(0, 3), millis("standard").slice(0, 3))
    assert.deepStrictEqual(millis("extended").slice(3), [
      10 * minutes,
      hours,
      3 * hours,
      8 * hours,
      16 * hours,
      undefined
    ])
  })

  it("give no delay for an invalid attempt number", () => {
    for (const policy of RetryPolicyName.literals) {
      for (const attempt of [-1, 0, 0.5, 9, 1e9, Number.NaN]) assert.isUndefined(nextDelay(policy, attempt))
    }
  })
})
