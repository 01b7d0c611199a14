import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { StepProgress } from "../../src/failovers/Failover.ts"
import { decide, statusOf, type StepState } from "../../src/failovers/FailoverState.ts"

const step = (progress: StepProgress, more: Partial<StepState> = {}): StepState => ({
  progress,
  until: "delivered",
  withinMillis: 60_000,
  begunAt: progress === "waiting" ? undefined : 0,
  sentAt: ["sent", "delivered", "read"].includes(progress) ? 10_000 : undefined,
  ...more
})

const none: ReadonlySet<number> = new Set()
const open = { isCanceled: false, now: 20_000, tried: none }

const ranks = ["sent", "delivered", "read"]

const States = Schema.Array(Schema.Struct({
  progress: StepProgress,
  until: Schema.Literals(["sent", "delivered", "read"]),
  withinMillis: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100_000 })),
  begunAt: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000 })),
  sentAt: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000 }))
})).check(Schema.isMinLength(1), Schema.isMaxLength(5))

const Tried = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4 })))

describe("the decision about a failover", () => {
  it("begins the first step of a new one", () => {
    assert.deepStrictEqual(decide([step("waiting"), step("waiting")], open), { _tag: "Begin", step: 0 })
  })

  it("begins the next step when one fails, and finishes after the last one", () => {
    assert.deepStrictEqual(decide([step("failed"), step("waiting")], open), { _tag: "Begin", step: 1 })
    assert.deepStrictEqual(decide([step("failed"), step("failed")], open), { _tag: "Finish" })
  })

  it("counts the time of a step from its hand-over", () => {
    const steps = [step("sent"), step("waiting")]
    assert.deepStrictEqual(decide(steps, { ...open, now: 69_999 }), { _tag: "Wait", until: 70_000 })
    assert.deepStrictEqual(decide(steps, { ...open, now: 70_000 }), { _tag: "Begin", step: 1 })
  })

  it("withdraws a message that still waits at the end of its time, counted from its beginning", () => {
    const steps = [step("queued"), step("waiting")]
    assert.deepStrictEqual(decide(steps, { ...open, now: 59_999 }), { _tag: "Wait", until: 60_000 })
    assert.deepStrictEqual(decide(steps, { ...open, now: 60_000 }), { _tag: "Withdraw", step: 0 })
    assert.deepStrictEqual(decide([step("canceled"), step("waiting")], open), { _tag: "Begin", step: 1 })
  })

  it("begins the next step half a minute after the time of one that cannot be withdrawn", () => {
    const steps = [step("queued"), step("waiting")]
    const tried = new Set([0])
    assert.deepStrictEqual(decide(steps, { ...open, now: 89_999 }), { _tag: "Withdraw", step: 0 })
    assert.deepStrictEqual(decide(steps, { ...open, now: 89_999, tried }), { _tag: "Wait", until: 91_999 })
    assert.deepStrictEqual(decide(steps, { ...open, now: 90_000 }), { _tag: "Withdraw", step: 0 })
    assert.deepStrictEqual(decide(steps, { ...open, now: 90_000, tried }), { _tag: "Begin", step: 1 })
  })

  it("waits for a step that could not be withdrawn if nothing else was sent, and for what was sent in its time", () => {
    const late = { ...open, now: 90_000 }
    assert.deepStrictEqual(decide([step("queued"), step("failed")], late), { _tag: "Wait", until: undefined })
    assert.deepStrictEqual(decide([step("queued"), step("sent")], late), { _tag: "Finish" })
    const sent = step("sent", { sentAt: 80_000 })
    assert.deepStrictEqual(decide([sent, step("failed")], late), { _tag: "Wait", until: 140_000 })
    assert.deepStrictEqual(decide([sent, step("failed")], { ...late, now: 140_000 }), { _tag: "Finish" })
  })

  it("lets the message of the last step wait for as long as its channel does", () => {
    assert.deepStrictEqual(decide([step("queued")], { ...open, now: 1e9 }), { _tag: "Wait", until: undefined })
  })

  it("finishes when an earlier step arrives late, and begins nothing again", () => {
    assert.deepStrictEqual(decide([step("delivered"), step("queued"), step("waiting")], open), { _tag: "Finish" })
    assert.deepStrictEqual(decide([step("delivered"), step("failed"), step("waiting")], open), { _tag: "Finish" })
  })

  it("withdraws what waits when it is canceled, and begins nothing", () => {
    const canceled = { isCanceled: true, now: 20_000, tried: none }
    assert.deepStrictEqual(decide([step("queued"), step("waiting")], canceled), { _tag: "Withdraw", step: 0 })
    assert.deepStrictEqual(decide([step("waiting")], canceled), { _tag: "Finish" })
    assert.deepStrictEqual(decide([step("failed"), step("waiting")], canceled), { _tag: "Finish" })
  })

  it("withdraws each open step of a canceled one, and waits for those that cannot be withdrawn", () => {
    const canceled = (...tried: ReadonlyArray<number>) => ({ isCanceled: true, now: 20_000, tried: new Set(tried) })
    const steps = [step("queued"), step("queued"), step("waiting")]
    assert.deepStrictEqual(decide(steps, canceled()), { _tag: "Withdraw", step: 1 })
    assert.deepStrictEqual(decide(steps, canceled(1)), { _tag: "Withdraw", step: 0 })
    assert.deepStrictEqual(decide(steps, canceled(0, 1)), { _tag: "Wait", until: 22_000 })
    assert.deepStrictEqual(decide([step("queued"), step("canceled")], canceled(1)), { _tag: "Withdraw", step: 0 })
  })

  it.prop(
    "begins only a step that waits, right after the last one that has begun",
    { steps: States, now: Schema.Int, isCanceled: Schema.Boolean, tried: Tried },
    ({ isCanceled, now, steps, tried: indices }) => {
      const tried = new Set(indices)
      // Steps begin in order, so none that waits is before one that has begun.
      const firstWaiting = steps.findIndex(({ progress }) => progress === "waiting")
      const ordered = steps.map((own, index) =>
        firstWaiting >= 0 && index > firstWaiting ? { ...own, progress: "waiting" as const } : own
      )
      const decision = decide(ordered, { now, isCanceled, tried })
      if (decision._tag === "Begin") {
        assert.strictEqual(decision.step, firstWaiting)
        assert.isFalse(isCanceled)
      }
      if (decision._tag === "Withdraw") {
        assert.strictEqual(ordered[decision.step]?.progress, "queued")
        assert.isFalse(tried.has(decision.step))
      }
      const isReached = ordered.some(({ progress, until }) => ranks.indexOf(progress) >= ranks.indexOf(until))
      if (isReached) assert.strictEqual(decision._tag, "Finish")
    }
  )

  it("shows the best that a step has reached, and canceled only if none was sent", () => {
    const over = { isCanceled: false, isOver: true }
    assert.strictEqual(statusOf([step("sent"), step("read"), step("failed")], over), "read")
    assert.strictEqual(statusOf([step("sent"), step("canceled")], { isCanceled: true, isOver: true }), "sent")
    assert.strictEqual(statusOf([step("canceled"), step("waiting")], { isCanceled: true, isOver: true }), "canceled")
    assert.strictEqual(statusOf([step("queued"), step("waiting")], { isCanceled: true, isOver: false }), "processing")
    assert.strictEqual(statusOf([step("failed")], over), "failed")
    assert.strictEqual(statusOf([step("failed"), step("queued")], { ...over, isOver: false }), "processing")
    assert.strictEqual(statusOf([step("waiting")], { ...over, isOver: false }), "queued")
  })
})
