import { Effect } from "effect"
import { databaseAnswers } from "../database/databaseAnswers.ts"
import { ServiceUnavailable } from "./ApiErrors.ts"

/** After this time of a request the node checks whether the database still answers. */
const checkAfter = "2500 millis"

/**
 * Answers 503 within 5 seconds when the database stops answering, whatever statement the request waits for. A request
 * that is slow for another reason continues, because the database answers the check.
 */
export const whileDatabaseAnswers = Effect.map(databaseAnswers, (answers) => {
  const watch = answers("1500 millis").pipe(
    Effect.delay(checkAfter),
    Effect.repeat({ while: (isAnswering) => isAnswering }),
    Effect.andThen(Effect.die(new ServiceUnavailable()))
  )
  return <A, E, R>(request: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => Effect.raceFirst(request, watch)
})
