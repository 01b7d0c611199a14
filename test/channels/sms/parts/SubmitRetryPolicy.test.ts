import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import { nextDelay } from "../../../../src/channels/sms/parts/SubmitRetryPolicy.ts"

describe("nextDelay", () => {
  it("is 5, 30, 120, 600 and 2,700 seconds after the first five attempts, and undefined after the sixth", () => {
    const delays = [1, 2, 3, 4, 5, 6].map(nextDelay)
    const seconds = delays.map((delay) => delay === undefined ? undefined : Duration.toSeconds(delay))
    assert.deepStrictEqual(seconds, [5, 30, 120, 600, 2_700, undefined])
  })
})
