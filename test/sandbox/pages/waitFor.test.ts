import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Draining } from "../../../src/platform/http/ready/Draining.ts"
import { makeWaitFor } from "../../../src/sandbox/pages/waitFor.ts"

it.effect("a wait of a minute reads often at first, and then once a second", () =>
  Effect.gen(function*() {
    const waitFor = yield* makeWaitFor
    let reads = 0
    const read = Effect.sync(() => ++reads)
    const waiting = yield* Effect.forkChild(waitFor(read, { seconds: 60, isFound: () => false }))
    yield* TestClock.adjust("1 second")
    assert.isAtLeast(reads, 5)
    yield* TestClock.adjust("61 seconds")
    assert.strictEqual(yield* Fiber.join(waiting), reads)
    assert.isAtLeast(reads, 60)
    assert.isAtMost(reads, 75)
  }).pipe(Effect.provide(Draining.layer)))
