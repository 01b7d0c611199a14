import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { AppConfig } from "../../../src/platform/config/AppConfig.ts"
import {
  AcceptanceGauge,
  AcceptancePaths,
  alwaysAccepted,
  longestWait,
  Overload
} from "../../../src/platform/work/Overload.ts"

/** The requests that a gauge accepts until one more would wait for too long. */
const acceptedBy = (gauge: AcceptanceGauge) => {
  let count = 0
  for (; gauge.wait <= longestWait && count < 100_000; count++) gauge.begin()
  return count
}

/** A node that is always full and answers so many requests per second. */
const busyNode = (perSecond: number, gauge = new AcceptanceGauge()) => {
  let inFlight = acceptedBy(gauge)
  for (let time = 0; time < 100; time++) {
    for (let answer = 0; answer < perSecond / 4; answer++) {
      if (inFlight === 0) break
      gauge.end()
      inFlight--
      if (gauge.wait <= longestWait) {
        gauge.begin()
        inFlight++
      }
    }
    gauge.measure(250)
    inFlight += acceptedBy(gauge)
  }
  return { gauge, inFlight }
}

describe("AcceptanceGauge", () => {
  it("accepts as many requests as a busy node answers within the longest wait", () => {
    for (const perSecond of [40, 200, 2_000]) {
      const { inFlight } = busyNode(perSecond)
      assert.closeTo(inFlight, Math.max(alwaysAccepted, perSecond * longestWait / 1_000), perSecond / 10 + 1)
    }
  })

  it("follows a node that becomes slower, and one that becomes faster", () => {
    const { gauge, inFlight } = busyNode(1_000)
    assert.isAbove(inFlight, 0.9 * longestWait)
    for (let answered = 0; answered < inFlight; answered++) gauge.end()
    assert.isBelow(busyNode(300, gauge).inFlight, 500)
  })

  it("accepts a burst of an idle node, and learns nothing from times without load", () => {
    const gauge = new AcceptanceGauge()
    for (let time = 0; time < 100; time++) {
      gauge.begin()
      gauge.end()
      gauge.measure(250)
    }
    assert.isAtLeast(acceptedBy(gauge), 250)
  })

  it("accepts a few requests although none is answered", () => {
    const gauge = new AcceptanceGauge()
    acceptedBy(gauge)
    for (let time = 0; time < 100; time++) gauge.measure(250)
    const stalled = gauge.wait
    assert.isAbove(stalled, longestWait)
    assert.strictEqual(new AcceptanceGauge().wait, 0)
  })
})

describe("Overload", () => {
  it.effect("a refusal counts for five seconds, also if the clock is set back meanwhile", () =>
    Effect.gen(function*() {
      const { guard, isRecent } = yield* Overload
      yield* TestClock.adjust("2 hours")
      const send = guard({ method: "POST", path: "/send" }, Effect.never, Effect.fail("refused" as const))
      const ends = yield* Effect.forEach(
        Array.from({ length: 1_000 }),
        () => Effect.timeoutOption(Effect.flip(send), "1 millis"),
        { concurrency: "unbounded" }
      ).pipe(Effect.forkChild)
      yield* TestClock.adjust("1 millis")
      assert.isNotEmpty(yield* Fiber.join(ends))
      assert.isTrue(yield* isRecent)
      yield* TestClock.setTime(0)
      yield* TestClock.adjust("4900 millis")
      assert.isTrue(yield* isRecent)
      yield* TestClock.adjust("100 millis")
      assert.isFalse(yield* isRecent)
    }).pipe(
      Effect.provide(Overload.layer.pipe(
        Layer.provide(Layer.succeed(AcceptancePaths, new Set(["/send"]))),
        Layer.provide(AppConfig.layer)
      ))
    ))
})
