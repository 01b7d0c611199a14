import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { admit, type Sent } from "../../src/verify/admission.ts"

const limits = { resendSeconds: 30, perHour: 5, perDay: 20, perNetworkHour: 10, perPrefixHour: 20 }

const none: Sent = {
  sinceLast: null,
  hour: { count: 0, frees: 0 },
  day: { count: 0, frees: 0 },
  network: { count: 0, frees: 0 },
  prefix: { count: 0, frees: 0 },
  blockedFor: null
}

const counts = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 25 }))
const seconds = Schema.Finite.check(Schema.isBetween({ minimum: -10, maximum: 90_000 }))

describe("one more code", () => {
  it("is sent where nothing was sent before", () => {
    assert.isUndefined(admit(none, limits))
  })

  it("waits for 30 seconds after the last one", () => {
    assert.deepInclude(admit({ ...none, sinceLast: 0.2 }, limits), { reason: "resend_cool_down", retryAfter: 30 })
    assert.deepInclude(admit({ ...none, sinceLast: 29.9 }, limits), { retryAfter: 1 })
    assert.isUndefined(admit({ ...none, sinceLast: 30 }, limits))
  })

  it("waits for the longest of what it has to wait for, and a block outweighs all", () => {
    const full = { ...none, hour: { count: 5, frees: 10 }, day: { count: 20, frees: 3_000.5 }, sinceLast: 1 }
    assert.deepInclude(admit(full, limits), { reason: "recipient_day", limit: 20, retryAfter: 3_001 })
    assert.deepStrictEqual(admit({ ...full, blockedFor: 5 }, limits), { _tag: "Blocked", retryAfter: 5 })
  })

  it.prop(
    "is sent exactly where every count is below its limit, and is to be tried again after a second at least",
    [counts, counts, counts, counts, seconds],
    ([hour, day, network, prefix, frees]) => {
      const window = (count: number) => ({ count, frees })
      const refusal = admit(
        { ...none, hour: window(hour), day: window(day), network: window(network), prefix: window(prefix) },
        limits
      )
      assert.strictEqual(refusal === undefined, hour < 5 && day < 20 && network < 10 && prefix < 20)
      if (refusal !== undefined) assert.isAtLeast(refusal.retryAfter, 1)
    }
  )
})
