import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Schema, Scope } from "effect"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { GroupCommit } from "../../../src/platform/work/GroupCommit.ts"
import { TestDatabase, transaction } from "../../support/TestDatabase.ts"

class Refused extends Schema.TaggedError<Refused>()("Refused", {}) {}

const away = SqlError.SqlError.make({
  reason: SqlError.ConnectionError.make({ cause: undefined, message: "gone", operation: "query" })
})

layer(TestDatabase.layer)("GroupCommit", (it) => {
  it.effect("runs all inputs that arrive during a run as one group, and answers each caller with its own output", () =>
    Effect.gen(function*() {
      const groups: Array<ReadonlyArray<number>> = []
      const gate = yield* Deferred.make<void>()
      const double = yield* GroupCommit.make({
        maxSize: 50,
        concurrency: 1,
        run: (inputs: ReadonlyArray<number>) =>
          Effect.sync(() => groups.push(inputs)).pipe(
            Effect.andThen(Deferred.await(gate)),
            Effect.as(inputs.map((input) => input * 2))
          )
      })
      const fibers = yield* Effect.forEach(
        Array.from({ length: 101 }, (_, index) => index),
        (index) => Effect.forkChild(double(index), { startImmediately: true })
      )
      yield* Effect.yieldNow
      yield* Deferred.succeed(gate, undefined)
      assert.deepStrictEqual(yield* Fiber.joinAll(fibers), Array.from({ length: 101 }, (_, index) => index * 2))
      assert.isTrue(groups.every((group) => group.length <= 50))
      assert.isAtMost(groups.length, 4)
    }))

  it.effect("runs the first input at once, and pauses after each group", () =>
    Effect.gen(function*() {
      const groups: Array<ReadonlyArray<number>> = []
      const call = yield* GroupCommit.make({
        maxSize: 50,
        concurrency: 1,
        pause: "10 millis",
        run: (inputs: ReadonlyArray<number>) => Effect.as(Effect.sync(() => groups.push(inputs)), inputs)
      })
      assert.strictEqual(yield* call(1), 1)
      const others = yield* Effect.forEach([2, 3], (n) => Effect.forkChild(call(n), { startImmediately: true }))
      yield* TestClock.adjust("9 millis")
      assert.deepStrictEqual(groups, [[1]])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(yield* Fiber.joinAll(others), [2, 3])
      yield* TestClock.adjust("10 millis")
      assert.strictEqual(yield* call(4), 4)
      assert.deepStrictEqual(groups, [[1], [2, 3], [4]])
    }))

  it.effect("fails only the caller of a bad input, with its error or its defect", () =>
    Effect.gen(function*() {
      const run = yield* GroupCommit.make({
        maxSize: 10,
        concurrency: 1,
        run: (inputs: ReadonlyArray<number>) =>
          inputs.includes(-2)
            ? Effect.die("broken")
            : inputs.includes(-1)
            ? Effect.fail(new Refused())
            : Effect.succeed(inputs)
      })
      const exits = yield* Effect.forEach([1, -1, 2, -2, 3], (input) => Effect.exit(run(input)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(exits.map(Exit.isSuccess), [true, false, true, false, true])
      assert.deepStrictEqual(exits[1], Exit.fail(new Refused()))
    }))

  it.effect("fails all callers without another run when the database is unavailable", () =>
    Effect.gen(function*() {
      let calls = 0
      const run = yield* GroupCommit.make({
        maxSize: 10,
        concurrency: 1,
        run: (_: ReadonlyArray<number>) =>
          Effect.suspend(() => {
            calls++
            return Effect.die(away)
          })
      })
      const exits = yield* Effect.forEach([1, 2, 3], (input) => Effect.exit(run(input)), { concurrency: "unbounded" })
      assert.isTrue(exits.every(Exit.isFailure))
      assert.isAtMost(calls, 2)
    }))

  it.effect("interrupts the callers of a scope that closes", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const started = yield* Deferred.make<void>()
      const run = yield* GroupCommit.make({
        maxSize: 10,
        concurrency: 1,
        run: (_: ReadonlyArray<number>) => Effect.andThen(Deferred.succeed(started, undefined), Effect.never)
      }).pipe(Scope.provide(scope))
      const caller = yield* Effect.forkChild(run(1), { startImmediately: true })
      yield* Deferred.await(started)
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(caller)))
    }))

  it.effect("dies for a caller in a transaction, because its group would need a second connection", () =>
    Effect.gen(function*() {
      const run = yield* GroupCommit.make({
        maxSize: 10,
        concurrency: 1,
        run: (inputs: ReadonlyArray<number>) => Effect.succeed(inputs)
      })
      assert.isTrue(Exit.hasDies(yield* Effect.exit(transaction(run(1)))))
      assert.strictEqual(yield* run(1), 1)
    }))
})
