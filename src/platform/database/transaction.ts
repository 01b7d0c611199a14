import { Context, Duration, Effect } from "effect"
import { SqlClient, SqlError } from "effect/sql"

export const Pending = Context.Reference<Array<Effect.Effect<void>> | undefined>(
  "messaging-service/platform/database/transaction/Pending",
  { defaultValue: () => undefined }
)

/**
 * Runs an effect in one transaction, a savepoint when there is one already. What it asked for by {@link afterCommit}
 * happens only when the outermost transaction has committed. A failure of the database itself is a defect.
 */
export const transaction = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, SqlError.SqlError>, R | SqlClient.SqlClient> =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    if ((yield* Pending) !== undefined) return yield* sql.withTransaction(effect)
    const deferred: Array<Effect.Effect<void>> = []
    const nudges = Effect.suspend(() =>
      Effect.forEach(deferred, (nudge) => Effect.forkDetach(nudge), { discard: true })
    )
    // The client's own hook, because it runs even if the fiber is interrupted while it commits.
    return yield* sql.withTransaction(
      Effect.andThen(sql.afterCommit(nudges), Effect.provideService(effect, Pending, deferred))
    )
  }).pipe(
    // What is no SqlError is of the effect itself, which the compiler does not conclude for a generic E.
    Effect.catch((error) =>
      SqlError.isSqlError(error) ? Effect.die(error) : Effect.fail(error as Exclude<E, SqlError.SqlError>)
    )
  )

/**
 * Forks an effect once the transaction in hand has committed, at once where there is none. For nudges only: a crash
 * right after the commit loses it, so whatever it starts must be found by a sweep as well. It takes nothing from the
 * context of the transaction, whose connection is somebody else's by then.
 */
export const afterCommit = Effect.fnUntraced(function*(nudge: Effect.Effect<void>) {
  const pending = yield* Pending
  if (pending === undefined) yield* Effect.forkDetach(nudge)
  else pending.push(nudge)
})

/** Whether there is a transaction in hand, which holds a connection until it ends. */
export const inTransaction: Effect.Effect<boolean> = Effect.map(Pending, (pending) => pending !== undefined)

/**
 * Runs what asks nothing of the database for as long as `atMost`, in the transaction in hand: the database ends one that
 * is idle for longer than its patience, which is short and holds again afterwards.
 */
export const idleInTransaction = <A, E, R>(effect: Effect.Effect<A, E, R>, atMost: Duration.Duration) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const millis = String(Duration.toMillis(atMost))
    yield* Effect.orDie(sql`select set_config('idle_in_transaction_session_timeout', ${millis}, true)`)
    const value = yield* effect
    yield* Effect.orDie(sql`set local idle_in_transaction_session_timeout to default`)
    return value
  })
