import { Cause, Duration, Effect, Exit, Layer, Schedule, Schema } from "effect"
import { SqlError } from "effect/sql"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { DatabaseUnreachable } from "../../platform/database/DatabaseUnreachable.ts"
import { PublicUrl } from "../../platform/http/PublicUrl.ts"
import { GarbageCollection } from "./GarbageCollection.ts"
import { Server } from "./Server.ts"
import { Welcome } from "./Welcome.ts"

const isUnreachable = Schema.is(DatabaseUnreachable)

/** The failure of a database that may answer soon, if the cause contains one. */
const temporaryIn = (cause: Cause.Cause<unknown>): DatabaseUnreachable | undefined => {
  const failure = Cause.squash(cause)
  const found = SqlError.isSqlError(failure) ? DatabaseUnreachable.from(failure) : failure
  return isUnreachable(found) && found.isTemporary ? found : undefined
}

/**
 * Starts again every half second while the database does not answer. After `DATABASE_WAIT_SECONDS` it fails with
 * `DatabaseUnreachable`. If the database refuses the connection (password, name), it fails at once.
 */
const retryUntilReachable = <A, E, R>(start: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const { databaseWaitSeconds: seconds } = yield* AppConfig
    const attempt = Effect.catchCause(start, (cause): Effect.Effect<never, E | DatabaseUnreachable> => {
      const temporary = temporaryIn(cause)
      return temporary === undefined ? Effect.failCause(cause) : Effect.fail(temporary)
    })
    const isTemporary = (error: E | DatabaseUnreachable) => seconds > 0 && isUnreachable(error) && error.isTemporary
    const everyHalfSecond = Schedule.spaced("500 millis").pipe(Schedule.upTo({ duration: Duration.seconds(seconds) }))
    return yield* Effect.catchIf(attempt, isTemporary, () =>
      Effect.logWarning(`PostgreSQL does not answer yet, retrying for ${seconds} seconds`).pipe(
        Effect.andThen(Effect.retry(attempt, { while: isTemporary, schedule: everyHalfSecond }))
      ))
  })

const announce = Layer.effectDiscard(Effect.gen(function*() {
  const { base, local } = yield* PublicUrl
  if ((yield* AppConfig).paused) yield* Effect.logWarning("PAUSED is true: nothing is sent until a start without it")
  yield* Effect.logInfo(`listening on ${local} (docs at ${base}/docs, Ctrl-C stops)`)
  yield* (yield* Welcome).show
}))

/** Ends a process whose shutdown hangs. The next start recovers from the rows. Its finalizer runs first. */
const limitShutdown = Layer.effectDiscard(Effect.gen(function*() {
  const { drainSeconds } = yield* AppConfig
  const limit = Effect.andThen(Effect.sleep(Duration.seconds(15 + drainSeconds)), Effect.sync(() => process.exit(0)))
  yield* Effect.addFinalizer((exit) => Exit.hasInterrupts(exit) ? Effect.forkDetach(limit) : Effect.void)
}))

/** Runs a node until it is interrupted. */
export const launchNode = retryUntilReachable(
  Layer.launch(
    Layer.merge(limitShutdown, GarbageCollection).pipe(Layer.provideMerge(announce), Layer.provideMerge(Server))
  )
)
