import { Context, type Duration, Effect, Exit, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { longestCheck, refusesWrites } from "./ReadOnly.ts"

/**
 * In a process that was held up, the timeout passes before it reads an answer that arrived long ago. This is the time
 * to read it.
 */
const grace = "50 millis"

/** Finds out whether the database answers, and whether it takes writes. */
export class DatabaseProbe extends Context.Service<DatabaseProbe, {
  /**
   * Whether the database answers within a time. A query that hangs keeps running for ten seconds, and later callers wait
   * for the same query, so an outage costs one connection.
   */
  readonly answers: (within: Duration.Input) => Effect.Effect<boolean>
  /** Whether the database answers within a time that its server is not read-only. */
  readonly takesWrites: (within: Duration.Input) => Effect.Effect<boolean>
}>()("messaging-service/platform/database/DatabaseProbe") {
  /** On the client in the context. */
  static readonly fromClient = Layer.effect(
    DatabaseProbe,
    Effect.map(SqlClient.SqlClient, (sql) => {
      let pending: Fiber.Fiber<ReadonlyArray<Record<string, unknown>>, unknown> | undefined
      const answered = Effect.sync(() => {
        pending = undefined
      })
      const query = Effect.gen(function*() {
        const asked = Effect.timeout(sql`select ${refusesWrites(sql)} as refuses`, longestCheck)
        pending ??= yield* Effect.forkDetach(Effect.ensuring(asked, answered))
        return pending
      })
      const ask = Effect.fn("DatabaseProbe.ask")(function*(within: Duration.Input) {
        const fiber = yield* query
        const late = Effect.delay(Effect.sync(() => fiber.pollUnsafe()), grace)
        const exit = yield* Effect.timeoutOrElse(Fiber.await(fiber), { duration: within, orElse: () => late })
        return exit !== undefined && Exit.isSuccess(exit) ? exit.value : undefined
      })
      return DatabaseProbe.of({
        answers: (within) => Effect.map(ask(within), (rows) => rows !== undefined),
        takesWrites: (within) => Effect.map(ask(within), (rows) => rows?.[0]?.["refuses"] === false)
      })
    })
  )
}
