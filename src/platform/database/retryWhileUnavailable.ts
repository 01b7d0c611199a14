import { Effect, Schedule } from "effect"
import { isDatabaseUnavailable } from "./isDatabaseUnavailable.ts"

/**
 * Runs an effect again until the database is available. The effect must be safe to run twice. Any other failure passes
 * through.
 */
export const retryWhileUnavailable = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  effect.pipe(
    Effect.sandbox,
    Effect.retry({ while: isDatabaseUnavailable, schedule: Schedule.spaced("500 millis") }),
    Effect.catch(Effect.failCause)
  )
