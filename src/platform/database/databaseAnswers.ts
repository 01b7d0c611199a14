import { type Duration, Effect, Exit, Fiber, Option } from "effect"
import { SqlClient } from "effect/sql"

/**
 * Asks whether the database answers within a time. A question that hangs is left where it is, as taking it back waits
 * for the database too; whoever asks meanwhile waits for the same one, so silence costs one connection.
 */
export const databaseAnswers = Effect.map(SqlClient.SqlClient, (sql) => {
  let asked: Fiber.Fiber<unknown, unknown> | undefined
  const answered = Effect.sync(() => {
    asked = undefined
  })
  const ask = Effect.gen(function*() {
    asked ??= yield* Effect.forkDetach(Effect.ensuring(sql`select 1`, answered))
    return asked
  })
  return (within: Duration.Input): Effect.Effect<boolean> =>
    Effect.flatMap(ask, Fiber.await).pipe(Effect.timeoutOption(within), Effect.map(Option.exists(Exit.isSuccess)))
})
