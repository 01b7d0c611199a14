import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { eventually } from "./Service.ts"

/**
 * Lets time pass by the test's clock, in steps, until what is seen is what the test waits for: what happens in between
 * needs a database or a connection, which that clock does not hurry.
 */
export const passing = <A, E, R>(
  look: Effect.Effect<A, E, R>,
  is: (seen: A) => boolean,
  step: "5 seconds" | "1 minute" | "1 hour" = "5 seconds"
) =>
  Effect.flatMap(
    Clock.Clock,
    (clock) => eventually(Effect.provideService(Effect.andThen(TestClock.adjust(step), look), Clock.Clock, clock), is)
  )
