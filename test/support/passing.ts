import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { eventually } from "./Service.ts"

/**
 * Advances the test clock in steps until the condition holds. In between the code waits for a database or a connection,
 * which that clock does not control.
 */
export const passing = <A, E, R>(
  look: Effect.Effect<A, E, R>,
  is: (seen: A) => boolean,
  step: "5 seconds" | "1 minute" = "5 seconds"
) =>
  Effect.flatMap(
    Clock.Clock,
    (clock) =>
      eventually(
        Effect.provideService(Effect.andThen(TestClock.adjust(step), look), Clock.Clock, clock),
        is
      )
  )
