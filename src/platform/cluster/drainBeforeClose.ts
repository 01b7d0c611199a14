import { Effect, Latch, Layer, type Scope } from "effect"

/** How many are inside, and when nobody is. */
const makeRoom = () => {
  let inside = 0
  const empty = Latch.makeUnsafe(true)
  const enter = Effect.sync(() => {
    if (inside++ === 0) empty.closeUnsafe()
  })
  const leave = Effect.sync(() => {
    if (--inside === 0) empty.openUnsafe()
  })
  return { stay: Effect.acquireRelease(enter, () => leave), empty: empty.await }
}

/**
 * An actor's layer that is closed only when the last of its actors has left. The library waits for the actors of a closing
 * layer, but not for those that are just leaving because their shard moves: what they need to end their work would be taken
 * away from them, they would never end it, and the next owner would do it once more. Each actor runs `stay` first of all.
 */
export const drainBeforeClose = <A, E, R>(
  layerOf: (stay: Effect.Effect<void, never, Scope.Scope>) => Layer.Layer<A, E, R>
): Layer.Layer<A, E, R> =>
  Layer.unwrap(Effect.gen(function*() {
    const { empty, stay } = makeRoom()
    yield* Effect.addFinalizer(() => empty)
    return layerOf(stay)
  }))
