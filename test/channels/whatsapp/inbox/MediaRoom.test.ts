import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import { maxFileBytes, MediaRoom } from "../../../../src/channels/whatsapp/inbox/MediaRoom.ts"
import { AccountId } from "../../../../src/values/Ids.ts"

const mebibyte = 1024 * 1024
const [ann, bob, cid] = [AccountId.make(1), AccountId.make(2), AccountId.make(3)]

layer(MediaRoom.layer)("MediaRoom", (it) => {
  it.effect("holds two of the largest files; a third one waits for up to ten seconds", () =>
    Effect.gen(function*() {
      const { take } = yield* MediaRoom
      const [first, second] = [yield* Scope.make(), yield* Scope.make()]
      yield* Scope.provide(take(ann, maxFileBytes), first)
      // A file of unknown size.
      yield* Scope.provide(take(bob, undefined), second)
      const refused = yield* Effect.forkChild(Effect.flip(Effect.scoped(take(cid, mebibyte))))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* Fiber.join(refused))._tag, "ServiceUnavailable")
      const waiting = yield* Effect.forkChild(Effect.scoped(take(cid, maxFileBytes)))
      yield* TestClock.adjust("9 seconds")
      yield* Scope.close(first, Exit.void)
      yield* Fiber.join(waiting)
      yield* Scope.close(second, Exit.void)
    }))

  it.effect("holds two hundred files of the usual size", () =>
    Effect.gen(function*() {
      const { take } = yield* MediaRoom
      const files = Array.from({ length: 100 }, () => mebibyte)
      yield* Effect.scoped(
        Effect.forEach([ann, bob], (account) => Effect.forEach(files, (size) => take(account, size)))
      )
    }))

  it.effect("limits one account to half of the memory", () =>
    Effect.gen(function*() {
      const { take } = yield* MediaRoom
      const held = yield* Scope.make()
      yield* Scope.provide(take(ann, maxFileBytes), held)
      const refused = yield* Effect.forkChild(Effect.flip(Effect.scoped(take(ann, 1))))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* Fiber.join(refused))._tag, "ServiceUnavailable")
      yield* Effect.scoped(take(bob, maxFileBytes))
      yield* Scope.close(held, Exit.void)
      yield* Effect.scoped(take(ann, maxFileBytes))
    }))
})
