import { Effect } from "effect"
import { eventually } from "./Service.ts"

/** Reads a mutable state until it passes the check. */
export const readUntil = <A>(
  read: () => A,
  check: (value: A) => boolean,
  within?: `${number} seconds`
): Effect.Effect<A> => eventually(Effect.sync(read), check, within)
