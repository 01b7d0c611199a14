import { assert, describe, it } from "@effect/vitest"
import { Duration, Schema } from "effect"
import { FailureReason } from "../../../src/values/FailureReason.ts"
import {
  type Delivery,
  DeliveryError,
  DeliveryStatus,
  type HealthSign,
  isFinal,
  type Outcome,
  transition
} from "../../../src/webhooks/delivery/DeliveryState.ts"
import { RetryPolicyName } from "../../../src/webhooks/endpoint/Webhook.ts"

const Status = Schema.Int.check(Schema.isBetween({ minimum: 100, maximum: 599 }))
const AnyOutcome = Schema.Union([
  Schema.TaggedStruct("Answered", { status: Status }),
  Schema.TaggedStruct("Broke", { error: FailureReason, status: Schema.optionalKey(Status) })
])
const fresh: Delivery = { status: "pending", attempt_count: 0, is_test: false, all_gone: true }
const ok: Outcome = { _tag: "Answered", status: 204 }
const refusal: Outcome = { _tag: "Answered", status: 500 }
/** 0, 5 s, 30 s, 2 min, 10 min, 1 h, 3 h, 8 h and 16 h after one another, in seconds. */
const extendedOffsets = [0, 5, 35, 155, 755, 4_355, 15_155, 43_955, 101_555]

/** Runs a delivery through these outcomes: its last row, and the second of each attempt. */
const live = (delivery: Delivery, outcomes: ReadonlyArray<Outcome>, policy: RetryPolicyName = "standard") => {
  const at: Array<number> = []
  let row = delivery
  let now = 0
  let health: HealthSign = "undecided"
  let used = 0
  for (const outcome of outcomes) {
    if (isFinal(row.status)) break
    at.push(now)
    const next = transition(row, outcome, policy)
    now += next.next_delay === undefined ? 0 : Duration.toSeconds(next.next_delay)
    const all_gone = row.all_gone && next.response_code === 410
    row = { ...row, status: next.status, attempt_count: next.attempt_count, all_gone }
    health = next.health
    used++
  }
  return { row, at, health, rest: outcomes.slice(used) }
}

const succeeded = (outcome: Outcome) => outcome._tag === "Answered" && outcome.status >= 200 && outcome.status < 300

describe("transition", () => {
  it("ends a delivery as delivered after any 2xx", () => {
    for (const status of [200, 201, 204, 299]) {
      assert.deepStrictEqual(transition(fresh, { _tag: "Answered", status }, "standard"), {
        status: "delivered",
        attempt_count: 1,
        next_delay: undefined,
        response_code: status,
        error: null,
        health: "success"
      })
    }
  })

  it("counts a redirect and every other status as a failed attempt", () => {
    for (const status of [300, 302, 308, 399]) {
      assert.strictEqual(transition(fresh, { _tag: "Answered", status }, "standard").error, "redirect")
    }
    for (const status of [199, 400, 404, 410, 429, 500, 599]) {
      assert.strictEqual(transition(fresh, { _tag: "Answered", status }, "standard").error, "http_status")
    }
  })

  it("ends a delivery as failed after attempts at 0, 5, 35 and 155 seconds", () => {
    const { at, health, row } = live(fresh, [refusal, refusal, refusal, refusal, ok])
    assert.deepStrictEqual(at, [0, 5, 35, 155])
    assert.deepStrictEqual(row, { status: "failed", attempt_count: 4, is_test: false, all_gone: false })
    assert.strictEqual(health, "exhausted")
  })

  it("ends a delivery with the extended policy as failed after nine attempts in 28 hours and 12 minutes", () => {
    const refusals = Array.from({ length: 9 }, () => refusal)
    const { at, row } = live(fresh, [...refusals, ok], "extended")
    assert.deepStrictEqual(at, extendedOffsets)
    assert.deepStrictEqual(row, { status: "failed", attempt_count: 9, is_test: false, all_gone: false })
  })

  it("ends a delivery at its next failure when its owner returns to the standard policy after the fourth", () => {
    const late = { ...fresh, attempt_count: 5, status: "retrying" } as const
    assert.deepInclude(transition(late, refusal, "standard"), { status: "failed", attempt_count: 6 })
    assert.deepInclude(transition(late, refusal, "extended"), { status: "retrying", attempt_count: 6 })
  })

  it("reports an endpoint as gone only when all four attempts met 410", () => {
    const gone: Outcome = { _tag: "Answered", status: 410 }
    assert.strictEqual(live(fresh, [gone, gone, gone, gone]).health, "gone")
    assert.strictEqual(live(fresh, [gone, refusal, gone, gone]).health, "exhausted")
    assert.strictEqual(live(fresh, [gone, gone, gone, refusal]).health, "exhausted")
  })

  it("attempts a test once, and counts its success but not its failure", () => {
    const test = { ...fresh, is_test: true }
    assert.deepInclude(transition(test, refusal, "extended"), {
      status: "failed",
      attempt_count: 1,
      health: "undecided"
    })
    assert.deepInclude(transition(test, ok, "extended"), { status: "delivered", health: "success" })
  })

  it("keeps the status of a response with an incomplete body", () => {
    const broke = transition(fresh, { _tag: "Broke", error: "body_read", status: 200 }, "standard")
    assert.deepInclude(broke, { status: "retrying", response_code: 200, error: "body_read" })
  })

  it.prop(
    "makes at most four attempts at exact offsets and ends as the last outcome decides",
    [Schema.Array(AnyOutcome)],
    ([outcomes]) => {
      const { at, row } = live(fresh, outcomes)
      assert.isAtMost(row.attempt_count, 4)
      assert.strictEqual(row.attempt_count, at.length)
      assert.deepStrictEqual(at, [0, 5, 35, 155].slice(0, at.length))
      const decisive = outcomes.findIndex((outcome, index) => succeeded(outcome) || index === 3)
      const last = outcomes[decisive]
      const expected = last === undefined
        ? outcomes.length === 0 ? "pending" : "retrying"
        : succeeded(last)
        ? "delivered"
        : "failed"
      assert.strictEqual(row.status, expected)
    }
  )

  it.prop(
    "returns a next state for every row and never changes an ended one",
    [
      DeliveryStatus,
      Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10 })),
      Schema.Boolean,
      AnyOutcome,
      RetryPolicyName
    ],
    ([status, attempt_count, is_test, outcome, policy]) => {
      const next = transition({ status, attempt_count, is_test, all_gone: false }, outcome, policy)
      assert.strictEqual(next.next_delay !== undefined, next.status === "retrying")
      assert.isTrue(next.error === null || DeliveryError.literals.includes(next.error))
      if (!isFinal(status)) return
      assert.deepInclude(next, { status, attempt_count, health: "undecided", next_delay: undefined })
    }
  )
})
