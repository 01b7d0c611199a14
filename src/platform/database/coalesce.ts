import { Deferred, Effect, Exit, Queue } from "effect"
import { databaseAway } from "./databaseAway.ts"

interface Call<A, B, E> {
  readonly input: A
  readonly done: Deferred.Deferred<B, E>
}

/**
 * Group commit: makes one call of many that arrive while the last one runs. Every caller waits for the statement that
 * holds its own input, so what it is told is committed. `run` answers in the order of its inputs and does all of them or
 * none. A group that fails is run once more one by one, so that nobody fails for another's input; when the database is
 * away, all fail alike.
 */
export const coalesce = Effect.fnUntraced(function*<A, B, E, R>(options: {
  /** The most inputs of one call. */
  readonly most: number
  /** Calls under way at once: 2 keeps PostgreSQL busy while this process prepares the next. */
  readonly lanes: number
  readonly run: (inputs: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E, R>
}) {
  type Group = ReadonlyArray<Call<A, B, E>>
  const queue = yield* Queue.unbounded<Call<A, B, E>>()

  const perform = (calls: Group): Effect.Effect<void, never, R> =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(Effect.suspend(() => options.run(calls.map((call) => call.input))))
      if (Exit.isFailure(exit) && calls.length > 1 && !databaseAway(exit.cause)) {
        return yield* Effect.forEach(calls, (call) => perform([call]), { discard: true })
      }
      // One output for each input is what `run` promises, hence the `as B` below.
      for (const [index, call] of calls.entries()) {
        Deferred.doneUnsafe(call.done, Exit.map(exit, (outputs) => outputs[index] as B))
      }
    })

  const round = Effect.gen(function*() {
    const calls = yield* Queue.takeBetween(queue, 1, options.most)
    // Whoever waits for a lane that is being closed would wait for ever.
    yield* Effect.onInterrupt(perform(calls), () =>
      Effect.sync(() => {
        for (const { done } of calls) Deferred.doneUnsafe(done, Exit.interrupt())
      }))
  })
  for (let lane = 0; lane < options.lanes; lane++) yield* Effect.forkScoped(Effect.forever(round))
  return (input: A): Effect.Effect<B, E> =>
    Effect.suspend(() => {
      const done = Deferred.makeUnsafe<B, E>()
      Queue.offerUnsafe(queue, { input, done })
      return Deferred.await(done)
    })
})
