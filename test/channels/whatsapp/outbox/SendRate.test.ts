import { assert, describe, it } from "@effect/vitest"
import { waitFor } from "../../../../src/channels/whatsapp/outbox/SendRate.ts"

const minute = 60_000

describe("waitFor", () => {
  it("lets the first message go at once, and each further one after the pause", () => {
    const pace = { perMinute: 30, perDay: 1_000 }
    assert.strictEqual(waitFor(pace, { sent: [], gap: 2_000 }, 10_000), 0)
    assert.strictEqual(waitFor(pace, { sent: [9_500], gap: 2_000 }, 10_000), 1_500)
    assert.strictEqual(waitFor(pace, { sent: [5_000], gap: 2_000 }, 10_000), 0)
  })

  it("waits until the oldest of a full minute, or of a full day, is past", () => {
    const sent = [1_000, 2_000, 3_000]
    assert.strictEqual(waitFor({ perMinute: 3, perDay: 0 }, { sent, gap: 0 }, 4_000), minute - 3_000)
    assert.strictEqual(waitFor({ perMinute: 4, perDay: 0 }, { sent, gap: 0 }, 4_000), 0)
    assert.strictEqual(waitFor({ perMinute: 0, perDay: 2 }, { sent, gap: 0 }, 4_000), 24 * 60 * minute - 2_000)
  })

  it("knows no limit where there is none", () => {
    const sent = Array.from({ length: 5_000 }, () => 1_000)
    assert.strictEqual(waitFor({ perMinute: 0, perDay: 0 }, { sent, gap: 0 }, 1_000), 0)
  })
})
