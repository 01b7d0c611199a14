import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { withoutStartupNoise } from "../../../src/platform/cluster/withoutStartupNoise.ts"

describe("withoutStartupNoise", () => {
  it.effect("drops expected warnings alone, also those of fibers that the layer forks", () =>
    Effect.gen(function*() {
      const said: Array<unknown> = []
      const collecting = Logger.layer([Logger.make(({ message }) => void said.push(message))])
      const talk = Effect.gen(function*() {
        yield* Effect.logWarning("No healthy runners available")
        yield* Effect.logWarning("Could not acquire/release shards")
        yield* Effect.logWarning("Could not find entity manager for address, retrying")
      })
      const talking = Layer.effectDiscard(Effect.andThen(talk, Effect.forkScoped(talk)))
      yield* Layer.build(withoutStartupNoise(talking).pipe(Layer.provide(collecting)))
      yield* Effect.yieldNow
      assert.deepStrictEqual(said.flat(), ["Could not acquire/release shards", "Could not acquire/release shards"])
      yield* Effect.logWarning("No healthy runners available").pipe(Effect.provide(collecting))
      assert.lengthOf(said, 3)
    }).pipe(Effect.scoped))
})
