import { type Duration, Effect, Pull, Schedule } from "effect"

/**
 * All delays of a finite schedule, in order. A durable retry is timed by its row, long after the attempt that failed, so
 * its delay is asked for by attempt number; replaying the one value that documents the policy keeps the two the same.
 * For schedules whose steps look at neither the clock nor their input.
 */
export const delaysOf = <A>(schedule: Schedule.Schedule<A>): ReadonlyArray<Duration.Duration> =>
  Effect.runSync(Effect.gen(function*() {
    const step = yield* Schedule.toStep(schedule)
    const delays: Array<Duration.Duration> = []
    const next = Effect.suspend(() => step(0, undefined)).pipe(
      Effect.map(([, delay]) => {
        delays.push(delay)
        return true
      }),
      Pull.catchDone(() => Effect.succeed(false))
    )
    while (yield* next);
    return delays
  }))
