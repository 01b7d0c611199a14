import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import { BodyMemory } from "../../../src/platform/http/MemoryBudget.ts"
import { bulkMail, small } from "../../../src/platform/http/RequestRules.ts"

const accounts = Array.from({ length: 100 }, (_, index) => index + 1)

/** Takes as long as there is room, and returns how many were taken. */
const takeAll = (scope: Scope.Scope, takes: ReadonlyArray<Effect.Effect<void, unknown, Scope.Scope>>) =>
  Effect.gen(function*() {
    let taken = 0
    for (const take of takes) {
      const fiber = yield* Effect.forkChild(Effect.exit(Scope.provide(take, scope)))
      yield* TestClock.adjust("5 seconds")
      if (Exit.isFailure(yield* Fiber.join(fiber))) return taken
      taken++
    }
    return taken
  })

layer(BodyMemory.layer)("BodyMemory", (it) => {
  it.effect("an account that holds its share waits five seconds, while others have room", () =>
    Effect.gen(function*() {
      const { holdBytes } = yield* BodyMemory
      const held = yield* Scope.make()
      const ofOne = yield* takeAll(held, accounts.map(() => holdBytes(1, bulkMail.bytes)))
      assert.isAtLeast(ofOne, 1)
      yield* Effect.scoped(holdBytes(2, bulkMail.bytes))
      const waiting = yield* Effect.forkChild(Effect.scoped(holdBytes(1, bulkMail.bytes)))
      yield* TestClock.adjust("4 seconds")
      yield* Scope.close(held, Exit.void)
      yield* Fiber.join(waiting)
    }))

  it.effect("the bodies of all accounts together fit in a twelfth of the heap, and in 128 MiB", () =>
    Effect.gen(function*() {
      const { holdBytes } = yield* BodyMemory
      const held = yield* Scope.make()
      const taken = yield* takeAll(held, accounts.map((account) => holdBytes(account, bulkMail.bytes)))
      assert.isTrue(taken >= 2 && taken * bulkMail.bytes <= 128 * 1024 * 1024, `${taken} bodies`)
      yield* Scope.close(held, Exit.void)
    }))

  it.effect("small bodies need no room, even when large ones hold it all", () =>
    Effect.gen(function*() {
      const { holdBytes, holdValues } = yield* BodyMemory
      const held = yield* Scope.make()
      yield* takeAll(held, accounts.map((account) => holdBytes(account, bulkMail.bytes)))
      yield* takeAll(held, accounts.map((account) => holdValues(account, bulkMail.values)))
      yield* Effect.scoped(holdBytes(1, small.bytes))
      yield* Effect.scoped(holdValues(1, small.values))
      yield* Scope.close(held, Exit.void)
    }))

  it.effect("two of the largest bodies are decoded at a time, one of them for each account", () =>
    Effect.gen(function*() {
      const { holdValues } = yield* BodyMemory
      const held = yield* Scope.make()
      assert.strictEqual(yield* takeAll(held, accounts.map(() => holdValues(1, bulkMail.values))), 1)
      assert.strictEqual(yield* takeAll(held, accounts.map(() => holdValues(2, bulkMail.values))), 1)
      const refused = yield* Effect.forkChild(Effect.flip(Effect.scoped(holdValues(3, small.values + 1))))
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual((yield* Fiber.join(refused))._tag, "ServiceUnavailable")
      yield* Scope.close(held, Exit.void)
    }))
})
