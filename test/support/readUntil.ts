import { Effect } from "effect"

/** Looks again and again until what is read passes the check; the state itself is waited for, not a time. */
export const readUntil = <A>(read: () => A, check: (value: A) => boolean): Effect.Effect<A> =>
  Effect.suspend(() => {
    const value = read()
    return check(value) ? Effect.succeed(value) : Effect.andThen(Effect.sleep("10 millis"), readUntil(read, check))
  })
