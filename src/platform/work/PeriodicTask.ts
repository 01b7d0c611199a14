import { type Duration, Effect, Schedule } from "effect"
import { Singleton } from "effect/cluster"
import { logRetry } from "../database/unavailable.ts"

/** Runs `task` again and again on this node. Logs a failure, and tries again after the pause. */
const repeat = <A, E, R>(
  name: string,
  pause: Duration.Input,
  task: Effect.Effect<A, E, R>
): Effect.Effect<void, never, R> =>
  task.pipe(
    Effect.tapCause((cause) => logRetry("periodic task failed", cause)),
    Effect.annotateLogs({ task: name }),
    Effect.ignoreCause,
    Effect.repeat(Schedule.spaced(pause)),
    Effect.asVoid
  )

/** Work that repeats with a pause in between. */
export const PeriodicTask = {
  /** Runs the task on one node of the cluster. When that node leaves, another one continues within a second. */
  make: <A, E, R>(name: string, pause: Duration.Input, task: Effect.Effect<A, E, R>) =>
    Singleton.make(name, repeat(name, pause, task)),
  repeat
}
