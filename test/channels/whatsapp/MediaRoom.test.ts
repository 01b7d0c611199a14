import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import { largestMedia, MediaRoom } from "../../../src/channels/whatsapp/MediaRoom.ts"

const mebibyte = 1024 * 1024

layer(MediaRoom.layer)("the memory of a node for files", (it) => {
  it.effect("has room for two of the largest at once; a third waits for one of them, and ten seconds at most", () =>
    Effect.gen(function*() {
      const { take } = yield* MediaRoom
      const [first, second] = [yield* Scope.make(), yield* Scope.make()]
      yield* Scope.provide(take(largestMedia), first)
      // Nobody has said how large it is.
      yield* Scope.provide(take(undefined), second)
      const refused = yield* Effect.forkChild(Effect.flip(Effect.scoped(take(mebibyte))))
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* Fiber.join(refused))._tag, "ServiceUnavailable")
      const waiting = yield* Effect.forkChild(Effect.scoped(take(largestMedia)))
      yield* TestClock.adjust("9 seconds")
      yield* Scope.close(first, Exit.void)
      yield* Fiber.join(waiting)
      yield* Scope.close(second, Exit.void)
    }))

  it.effect("has room for two hundred as they usually are", () =>
    Effect.gen(function*() {
      const { take } = yield* MediaRoom
      yield* Effect.scoped(Effect.forEach(Array.from({ length: 200 }, () => mebibyte), take))
    }))
})
