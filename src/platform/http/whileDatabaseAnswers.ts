import { Effect } from "effect"
import { databaseAnswers } from "../database/databaseAnswers.ts"
import { ServiceUnavailable } from "./ApiErrors.ts"

/** A request that takes longer than this makes the node ask whether the database is still there. */
const patience = "2500 millis"

/**
 * Gives a request up with 503 within 5 seconds when the database has fallen silent, in whatever statement it waits. A
 * request that takes long for a reason of its own goes on, as the database answers.
 */
export const whileDatabaseAnswers = Effect.map(databaseAnswers, (answers) => {
  const watch = answers("1500 millis").pipe(
    Effect.delay(patience),
    Effect.repeat({ while: (isThere) => isThere }),
    Effect.andThen(Effect.die(new ServiceUnavailable()))
  )
  return <A, E, R>(request: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => Effect.raceFirst(request, watch)
})
