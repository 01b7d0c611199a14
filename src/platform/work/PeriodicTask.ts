import { type Duration, Effect, Schedule } from "effect"
import { Singleton } from "effect/cluster"

/**
 * Something that one node of the cluster does again and again, with a pause in between. When it fails, it is logged and
 * tried again after the pause; when its node leaves, another one goes on within a second.
 */
export const chore = <E, R>(name: string, pause: Duration.Input, effect: Effect.Effect<void, E, R>) =>
  Singleton.make(
    name,
    effect.pipe(
      Effect.tapCause((cause) => Effect.logWarning(`${name} failed and is tried again`, cause)),
      Effect.ignoreCause,
      Effect.repeat(Schedule.spaced(pause)),
      Effect.asVoid
    )
  )
