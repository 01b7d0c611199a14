import { assert, describe, it } from "@effect/vitest"
import * as BackOff from "../../../../src/channels/sms/providers/BackOff.ts"

/** The waits after failures that each come at the end of the wait before. */
const waits = (count: number) => {
  let state = BackOff.none
  return Array.from({ length: count }, () => {
    state = BackOff.failed(state, state.until, 5_000)
    return state.millis
  })
}

describe("BackOff", () => {
  it("waits for 5, 10, 20, 40 and then 60 seconds", () => {
    assert.deepStrictEqual(waits(6), [5_000, 10_000, 20_000, 40_000, 60_000, 60_000])
  })

  it("counts all failures during one wait as one", () => {
    const first = BackOff.failed(BackOff.none, 1_000, 5_000)
    assert.deepStrictEqual(first, { millis: 5_000, until: 6_000 })
    assert.strictEqual(BackOff.failed(first, 5_999, 5_000), first)
    assert.deepStrictEqual(BackOff.failed(first, 6_000, 5_000), { millis: 10_000, until: 16_000 })
  })
})
