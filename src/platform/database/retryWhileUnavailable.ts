import { Effect, Schedule } from "effect"
import { isDatabaseUnavailable } from "./isDatabaseUnavailable.ts"

/**
 * For actors: a database that is away fails nobody. The effect is run again until it is back, so it must be one that may
 * run twice. Any other failure passes through.
 */
export const retryWhileUnavailable = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  effect.pipe(
    Effect.sandbox,
    Effect.retry({ while: isDatabaseUnavailable, schedule: Schedule.spaced("500 millis") }),
    Effect.catch(Effect.failCause)
  )
