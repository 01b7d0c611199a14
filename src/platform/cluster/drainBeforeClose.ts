import { Effect, Latch, Layer, type Scope } from "effect"

/** Counts the running actors; `empty` completes when there are none. */
const makeCounter = () => {
  let running = 0
  const empty = Latch.makeUnsafe(true)
  const enter = Effect.sync(() => {
    if (running++ === 0) empty.closeUnsafe()
  })
  const leave = Effect.sync(() => {
    if (--running === 0) empty.openUnsafe()
  })
  return { track: Effect.acquireRelease(enter, () => leave), empty: empty.await }
}

/**
 * A layer of actors that closes only after its last actor has ended. The library awaits the actors of a closing layer, but
 * not the actors whose shard is moving at that moment. Their resources would close before they finish their work, and the
 * next owner would do that work again. Each actor runs `track` first.
 */
export const drainBeforeClose = <A, E, R>(
  layerOf: (track: Effect.Effect<void, never, Scope.Scope>) => Layer.Layer<A, E, R>
): Layer.Layer<A, E, R> =>
  Layer.unwrap(Effect.gen(function*() {
    const { empty, track } = makeCounter()
    yield* Effect.addFinalizer(() => empty)
    return layerOf(track)
  }))
