import { assert, describe, it } from "@effect/vitest"
import { waitFor } from "../../../../src/channels/whatsapp/outbox/SendRate.ts"

const minute = 60_000

describe("waitFor", () => {
  it("allows the first message at once and each later one after the pause", () => {
    const rate = { perMinute: 30, perDay: 1_000 }
    assert.strictEqual(waitFor(rate, { sent: [], gap: 2_000 }, 10_000), 0)
    assert.strictEqual(waitFor(rate, { sent: [9_500], gap: 2_000 }, 10_000), 1_500)
    assert.strictEqual(waitFor(rate, { sent: [5_000], gap: 2_000 }, 10_000), 0)
  })

  it("waits until the oldest message of a full minute or day is out of the window", () => {
    const sent = [1_000, 2_000, 3_000]
    assert.strictEqual(waitFor({ perMinute: 3, perDay: 0 }, { sent, gap: 0 }, 4_000), minute - 3_000)
    assert.strictEqual(waitFor({ perMinute: 4, perDay: 0 }, { sent, gap: 0 }, 4_000), 0)
    assert.strictEqual(waitFor({ perMinute: 0, perDay: 2 }, { sent, gap: 0 }, 4_000), 24 * 60 * minute - 2_000)
  })

  it("treats 0 as no limit", () => {
    const sent = Array.from({ length: 5_000 }, () => 1_000)
    assert.strictEqual(waitFor({ perMinute: 0, perDay: 0 }, { sent, gap: 0 }, 1_000), 0)
  })
})
