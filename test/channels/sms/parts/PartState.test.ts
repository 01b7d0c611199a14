import { assert, describe, it } from "@effect/vitest"
import { Duration, Schema } from "effect"
import { advance, type SmsStatus, transition } from "../../../../src/channels/sms/parts/PartState.ts"
import type { SubmitOutcome } from "../../../../src/channels/sms/parts/SmsProvider.ts"

const fresh = { attempt_count: 0, unconfirmed_attempts: 0, ageMillis: 0 }
const day = Duration.toMillis(Duration.hours(24))

const outcomes: ReadonlyArray<SubmitOutcome> = [
  { _tag: "Accepted", id: "x" },
  { _tag: "Refused", code: "c", reason: "r" },
  { _tag: "Deferred", code: "c", reason: "r" },
  { _tag: "Unavailable", reason: "r", retryInMillis: 10 },
  { _tag: "Unconfirmed", reason: "r" }
]

const Story = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: outcomes.length - 1 })))

describe("transition", () => {
  it.prop("submits a part at most eight times, and at most twice without confirmation", [Story], ([story]) => {
    let part = fresh
    let submits = 0
    let unconfirmed = 0
    for (const index of story) {
      const outcome = outcomes[index] ?? { _tag: "Unconfirmed", reason: "r" }
      const next = transition(part, outcome)
      assert.isAtLeast(next.attempt_count, part.attempt_count)
      assert.isAtLeast(next.unconfirmed_attempts, part.unconfirmed_attempts)
      assert.strictEqual(next.delay !== undefined, next.status === "queued")
      if (outcome._tag !== "Unavailable") submits++
      if (outcome._tag === "Unconfirmed") unconfirmed++
      assert.isAtMost(unconfirmed, 2)
      assert.isAtMost(submits, 8)
      if (next.status !== "queued") return
      part = { ...next, ageMillis: part.ageMillis }
    }
  })

  it("keeps the attempts of a part while the provider is unavailable, for at most a day", () => {
    const away: SubmitOutcome = { _tag: "Unavailable", reason: "no bind", retryInMillis: 1_000 }
    assert.deepInclude(transition(fresh, away), { status: "queued", attempt_count: 0, unconfirmed_attempts: 0 })
    assert.deepInclude(transition({ ...fresh, ageMillis: day - 1 }, away), { status: "queued", error_code: null })
    assert.deepInclude(transition({ ...fresh, ageMillis: day }, away), { status: "failed", error_code: "expired" })
  })

  it("submits a part that is always deferred six times, then fails it with the last error", () => {
    const deferred: SubmitOutcome = { _tag: "Deferred", code: "c", reason: "r" }
    let part = fresh
    for (let attempt = 1; attempt <= 5; attempt++) {
      const next = transition(part, deferred)
      assert.deepInclude(next, { status: "queued", attempt_count: attempt, error_code: "c" })
      part = { ...next, ageMillis: 0 }
    }
    assert.deepInclude(transition(part, deferred), { status: "failed", attempt_count: 6, error_code: "c" })
  })

  it("repeats an unconfirmed submit once, then fails the part with outcome_unknown", () => {
    const noAnswer: SubmitOutcome = { _tag: "Unconfirmed", reason: "no answer" }
    const once = transition(fresh, noAnswer)
    assert.deepInclude(once, { status: "queued", unconfirmed_attempts: 1, attempt_count: 0 })
    assert.deepInclude(transition({ ...fresh, unconfirmed_attempts: 1 }, noAnswer), {
      status: "failed",
      error_code: "outcome_unknown"
    })
  })
})

const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10 }))
const Status = Schema.Literals(["queued", "sent", "delivered", "failed", "canceled"])

describe("advance", () => {
  it.prop(
    "never moves a message backwards and counts it out of the queue once",
    [Status, Count, Count, Count],
    ([status, a, b, c]) => {
      const parts = { parts: Math.max(1, a + b + c), sent: a + b, delivered: a, failed: c }
      const advanced = advance(status, parts)
      const ranks: Readonly<Record<SmsStatus, number>> = {
        scheduled: 0,
        queued: 0,
        sent: 1,
        delivered: 2,
        failed: 2,
        canceled: 2
      }
      if (advanced === undefined) return
      assert.isAbove(ranks[advanced.status], ranks[status])
      assert.strictEqual(advanced.leavesQueue, status === "queued")
      assert.isUndefined(advance(advanced.status, parts)?.leavesQueue === true ? true : undefined)
    }
  )

  it("marks a message as delivered when all its parts are, and as failed when one is", () => {
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
