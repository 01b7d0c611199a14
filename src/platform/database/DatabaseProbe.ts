import { Context, type Duration, Effect, Exit, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"

/**
 * In a process that was held up, the timeout passes before it reads an answer that arrived long ago. This is the time
 * to read it.
 */
const grace = "50 millis"

/** Finds out whether the database answers. */
export class DatabaseProbe extends Context.Service<DatabaseProbe, {
  /**
   * Whether the database answers within a time. A query that hangs keeps running, because cancelling it needs the
   * database too. Later callers wait for the same query, so an outage costs one connection.
   */
  readonly answers: (within: Duration.Input) => Effect.Effect<boolean>
}>()("messaging-service/platform/database/DatabaseProbe") {
  /** On the client in the context. */
  static readonly fromClient = Layer.effect(
    DatabaseProbe,
    Effect.map(SqlClient.SqlClient, (sql) => {
      let pending: Fiber.Fiber<unknown, unknown> | undefined
      const answered = Effect.sync(() => {
        pending = undefined
      })
      const query = Effect.gen(function*() {
        pending ??= yield* Effect.forkDetach(Effect.ensuring(sql`select 1`, answered))
        return pending
      })
      return DatabaseProbe.of({
        answers: Effect.fn("DatabaseProbe.answers")(function*(within) {
          const fiber = yield* query
          const late = Effect.delay(Effect.sync(() => fiber.pollUnsafe()), grace)
          const exit = yield* Effect.timeoutOrElse(Fiber.await(fiber), { duration: within, orElse: () => late })
          return exit !== undefined && Exit.isSuccess(exit)
        })
      })
    })
  )
}
