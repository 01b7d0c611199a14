import { Effect, Fiber } from "effect"

/**
 * Runs effects apart from the request in hand, with what was there when this was made: what they write is committed when
 * they end, whatever becomes of the transaction in hand. For what another node has to see before a request is answered.
 */
export const outsideTransaction = <R>() =>
  Effect.map(
    Effect.context<R>(),
    (context) => <A, E>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E> =>
      Effect.callback<A, E>((resume) => {
        const fiber = Effect.runForkWith(context)(effect)
        fiber.addObserver((exit) => resume(exit))
        return Fiber.interrupt(fiber)
      })
  )
