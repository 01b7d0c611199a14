import { assert, describe, it } from "@effect/vitest"
import { Duration, Schema } from "effect"
import { settle } from "../../../../src/channels/sms/parts/PartState.ts"
import { advance, type SmsStatus } from "../../../../src/channels/sms/parts/SmsState.ts"
import type { SubmitOutcome } from "../../../../src/channels/sms/parts/SubmitOutcome.ts"

const fresh = { attempt_count: 0, doubts: 0, ageMillis: 0 }
const day = Duration.toMillis(Duration.hours(24))

const outcomes: ReadonlyArray<SubmitOutcome> = [
  { _tag: "Accepted", id: "x" },
  { _tag: "Refused", code: "c", reason: "r" },
  { _tag: "PutOff", code: "c", reason: "r" },
  { _tag: "NotTaken", reason: "r", retryInMillis: 10 },
  { _tag: "Unanswered", reason: "r" }
]

const Story = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: outcomes.length - 1 })))

describe("a part of an SMS", () => {
  it.prop("is submitted at most eight times, and without an answer at most twice", [Story], ([story]) => {
    let tried = fresh
    let submits = 0
    let unanswered = 0
    for (const index of story) {
      const outcome = outcomes[index] ?? { _tag: "Unanswered", reason: "r" }
      const settled = settle(tried, outcome)
      assert.isAtLeast(settled.attempt_count, tried.attempt_count)
      assert.isAtLeast(settled.doubts, tried.doubts)
      assert.strictEqual(settled.delay !== undefined, settled.status === "queued")
      if (outcome._tag !== "NotTaken") submits++
      if (outcome._tag === "Unanswered") unanswered++
      assert.isAtMost(unanswered, 2)
      assert.isAtMost(submits, 8)
      if (settled.status !== "queued") return
      tried = { ...settled, ageMillis: tried.ageMillis }
    }
  })

  it("waits without losing an attempt for a provider that is away, but not for longer than a day", () => {
    const away: SubmitOutcome = { _tag: "NotTaken", reason: "no bind", retryInMillis: 1_000 }
    assert.deepInclude(settle(fresh, away), { status: "queued", attempt_count: 0, doubts: 0 })
    assert.deepInclude(settle({ ...fresh, ageMillis: day }, away), { status: "failed", error_code: "expired" })
  })

  it("is repeated once where nothing answered, and then given up with its own reason", () => {
    const silence: SubmitOutcome = { _tag: "Unanswered", reason: "no answer" }
    const once = settle(fresh, silence)
    assert.deepInclude(once, { status: "queued", doubts: 1, attempt_count: 0 })
    assert.deepInclude(settle({ ...fresh, doubts: 1 }, silence), { status: "failed", error_code: "outcome_unknown" })
  })
})

const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10 }))
const Status = Schema.Literals(["queued", "sent", "delivered", "failed", "canceled"])

describe("an SMS", () => {
  it.prop("never goes backwards, and leaves the queue once", [Status, Count, Count, Count], ([status, a, b, c]) => {
    const parts = { parts: Math.max(1, a + b + c), sent: a + b, delivered: a, failed: c }
    const advanced = advance(status, parts)
    const ranks: Readonly<Record<SmsStatus, number>> = { queued: 0, sent: 1, delivered: 2, failed: 2, canceled: 2 }
    if (advanced === undefined) return
    assert.isAbove(ranks[advanced.status], ranks[status])
    assert.strictEqual(advanced.leavesQueue, status === "queued")
    assert.isUndefined(advance(advanced.status, parts)?.leavesQueue === true ? true : undefined)
  })

  it("is delivered when all its parts are, and failed as soon as one is", () => {
    assert.isUndefined(advance("queued", { parts: 3, sent: 2, delivered: 2, failed: 0 }))
    assert.isUndefined(advance("sent", { parts: 3, sent: 3, delivered: 2, failed: 0 }))
    assert.strictEqual(advance("queued", { parts: 3, sent: 3, delivered: 2, failed: 0 })?.status, "sent")
    assert.deepStrictEqual(advance("queued", { parts: 3, sent: 3, delivered: 3, failed: 0 }), {
      status: "delivered",
      impliesSent: true,
      leavesQueue: true
    })
    assert.strictEqual(advance("sent", { parts: 3, sent: 2, delivered: 2, failed: 1 })?.status, "failed")
    assert.isUndefined(advance("delivered", { parts: 1, sent: 0, delivered: 0, failed: 1 }))
  })
})
