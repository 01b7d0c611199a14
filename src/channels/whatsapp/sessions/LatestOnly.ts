import { Deferred, Effect, Semaphore } from "effect"

/**
 * Runs what it is given one after the other, for whoever has asked last: those before are ended and answered with
 * `replaced`, be it that they have gone without a word.
 */
export const makeLatestOnly = Effect.map(Semaphore.make(1), (turn) => {
  let latest: Deferred.Deferred<void> | undefined
  return <A, B, E, R>(effect: Effect.Effect<A, E, R>, replaced: B): Effect.Effect<A | B, E, R> =>
    Effect.suspend(() => {
      if (latest !== undefined) Deferred.doneUnsafe(latest, Effect.void)
      const next = Deferred.makeUnsafe<void>()
      latest = next
      return Effect.raceFirst(turn.withPermit(effect), Effect.as(Deferred.await(next), replaced))
    })
})
