import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { admit, type Sent } from "../../src/verify/admission.ts"

const limits = {
  resendSeconds: 30,
  perHour: 5,
  perDay: 20,
  perHourAll: 10,
  perDayAll: 24,
  perNetworkHour: 10,
  perPrefixHour: 20
}

const none: Sent = {
  sinceLast: null,
  hour: { count: 0, frees: 0 },
  day: { count: 0, frees: 0 },
  hourAll: { count: 0, frees: 0 },
  dayAll: { count: 0, frees: 0 },
  network: { count: 0, frees: 0 },
  prefix: { count: 0, frees: 0 },
  blockedFor: null
}

const counts = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 25 }))
const seconds = Schema.Finite.check(Schema.isBetween({ minimum: -10, maximum: 90_000 }))

describe("admit", () => {
  it("a first code is sent", () => {
    assert.isUndefined(admit(none, limits))
  })

  it("a second code must wait for 30 seconds", () => {
    assert.deepInclude(admit({ ...none, sinceLast: 0.2 }, limits), { reason: "resend_cool_down", retryAfter: 30 })
    assert.deepInclude(admit({ ...none, sinceLast: 29.9 }, limits), { retryAfter: 1 })
    assert.isUndefined(admit({ ...none, sinceLast: 30 }, limits))
  })

  it("a refusal names the longest wait, and a block outweighs all limits", () => {
    const full = { ...none, hour: { count: 5, frees: 10 }, day: { count: 20, frees: 3_000.5 }, sinceLast: 1 }
    assert.deepInclude(admit(full, limits), { reason: "recipient_day", limit: 20, retryAfter: 3_001 })
    assert.deepStrictEqual(admit({ ...full, blockedFor: 5 }, limits), { _tag: "Blocked", retryAfter: 5 })
  })

  it.prop(
    "a code is sent exactly if every count is below its limit, and a refusal waits for at least a second",
    [counts, counts, counts, counts, counts, counts, seconds],
    ([hour, day, hourAll, dayAll, network, prefix, frees]) => {
      const window = (count: number) => ({ count, frees })
      const windows = {
        hour: window(hour),
        day: window(day),
        hourAll: window(hourAll),
        dayAll: window(dayAll),
        network: window(network),
        prefix: window(prefix)
      }
      const refusal = admit({ ...none, ...windows }, limits)
      const isRoom = hour < 5 && day < 20 && hourAll < 10 && dayAll < 24 && network < 10 && prefix < 20
      assert.strictEqual(refusal === undefined, isRoom)
      if (refusal !== undefined) assert.isAtLeast(refusal.retryAfter, 1)
    }
  )
})
