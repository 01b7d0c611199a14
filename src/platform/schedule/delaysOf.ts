import { type Duration, Effect, Pull, Schedule } from "effect"

/**
 * All delays of a finite schedule, in order. A durable retry needs its delay by attempt number, because its row stores the
 * time. Replaying the schedule keeps the delays equal to the documented policy. The schedule must not depend on the clock
 * or on its input.
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
