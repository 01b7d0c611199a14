import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { paceOf } from "../../src/console/pages/messages/batchPace.ts"
import { Timestamp } from "../../src/values/Timestamp.ts"

const at = (seconds: number) => Schema.decodeSync(Timestamp)(new Date(seconds * 1000).toISOString())

const running = {
  status: "processing",
  started_at: at(100),
  completed_at: null,
  sent: 28,
  failed: 2,
  queued: 120
} as const

describe("the pace of a batch", () => {
  it("is the average since its first message, and the time left is that of its queue at this pace", () => {
    assert.deepStrictEqual(paceOf(running, 160_000), { perMinute: 30, left: 240_000 })
  })

  it("is not told before its first message, in its first second, and while nothing has left the queue", () => {
    assert.isUndefined(paceOf({ ...running, status: "scheduled", started_at: null }, 160_000))
    assert.isUndefined(paceOf(running, 100_999))
    assert.isUndefined(paceOf({ ...running, sent: 0, failed: 0 }, 160_000))
  })

  it("of a batch that is over is that of its whole time, without a time left", () => {
    const over = { ...running, status: "completed", completed_at: at(130), queued: 0 } as const
    assert.deepStrictEqual(paceOf(over, 9_999_000), { perMinute: 60, left: undefined })
    assert.isUndefined(paceOf({ ...running, status: "canceled" }, 160_000)?.left)
  })
})
