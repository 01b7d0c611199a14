import { type Duration, Effect, Exit, Fiber } from "effect"
import { SqlClient } from "effect/sql"

/** In a process that was held up a time is over before an answer that came long ago is read: for so long it is read. */
const grace = "50 millis"

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
  return Effect.fn("databaseAnswers")(function*(within: Duration.Input) {
    const fiber = yield* ask
    const late = Effect.delay(Effect.sync(() => fiber.pollUnsafe()), grace)
    const exit = yield* Effect.timeoutOrElse(Fiber.await(fiber), { duration: within, orElse: () => late })
    return exit !== undefined && Exit.isSuccess(exit)
  })
})
