import { Duration, Effect, Schedule } from "effect"
import { Draining } from "../../platform/http/ready/Draining.ts"

/** The pauses grow, so that a long wait costs few statements, up to one second. */
const pauses = Schedule.exponential("100 millis", 1.25).pipe(
  Schedule.modifyDelay(({ duration }) => Effect.succeed(Duration.min(duration, Duration.seconds(1))))
)

/**
 * Makes a function that reads until the result is as asked, for some seconds, and returns what it read last. It gives up
 * when the node shuts down.
 */
export const makeWaitFor = Effect.map(
  Draining,
  ({ hasBegun }) =>
  <A, E, R>(
    read: Effect.Effect<A, E, R>,
    { isFound, seconds }: { readonly isFound: (seen: A) => boolean; readonly seconds: number }
  ): Effect.Effect<A, E, R> => {
    const isOver = (seen: A) => seconds === 0 || isFound(seen) || hasBegun()
    const schedule = Schedule.upTo(pauses, { duration: Duration.seconds(seconds) })
    return Effect.flatMap(read, (first) => {
      if (isOver(first)) return Effect.succeed(first)
      let seen = first
      const next = Effect.tap(read, (value) => Effect.sync(() => void (seen = value)))
      return Effect.map(Effect.repeat(next, { until: isOver, schedule }), () => seen)
    })
  }
)
