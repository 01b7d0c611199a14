import { type Duration, Effect, Exit, Queue, type Scope } from "effect"
import { Database } from "../database/Database.ts"
import { isDatabaseUnavailable } from "../database/unavailable.ts"

type Done<B, E> = (exit: Exit.Exit<B, E>) => void

interface Call<A, B, E> {
  readonly input: A
  readonly done: Done<B, E>
}

interface Options<A, B, E, R> {
  /** The most inputs in one group. */
  readonly maxSize: number
  /** How many groups run at once. With 2, PostgreSQL works on one while this process prepares the next. */
  readonly concurrency: number
  /** The pause after each group. A single caller does not wait, and under load groups grow larger. */
  readonly pause?: Duration.Input
  /** Writes all inputs or none, and answers in their order. */
  readonly run: (inputs: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E, R>
}

/** Calls `done` after the statement that contains its input has committed. */
type Submit<A, B, E> = (input: A, done: Done<B, E>) => void

const makeWithCallback: <A, B, E, R>(
  options: Options<A, B, E, R>
) => Effect.Effect<Submit<A, B, E>, never, R | Scope.Scope> = Effect.fnUntraced(
  function*<A, B, E, R>(options: Options<A, B, E, R>) {
    type Group = ReadonlyArray<Call<A, B, E>>
    const queue = yield* Queue.unbounded<Call<A, B, E>>()

    const write = (calls: Group): Effect.Effect<void, never, R> =>
      Effect.gen(function*() {
        const exit = yield* Effect.exit(Effect.suspend(() => options.run(calls.map((call) => call.input))))
        if (Exit.isFailure(exit) && calls.length > 1 && !isDatabaseUnavailable(exit.cause)) {
          return yield* Effect.forEach(calls, (call) => write([call]), { discard: true })
        }
        // `run` promises one output for each input, hence `as B`.
        for (const [index, { done }] of calls.entries()) done(Exit.map(exit, (outputs) => outputs[index] as B))
      })

    const round = Effect.gen(function*() {
      const calls = yield* Queue.takeBetween(queue, 1, options.maxSize)
      // Without this, callers of a closing scope would wait forever.
      yield* Effect.onInterrupt(write(calls), () =>
        Effect.sync(() => {
          for (const { done } of calls) done(Exit.interrupt())
        }))
      if (options.pause !== undefined) yield* Effect.sleep(options.pause)
    })
    for (let rounds = 0; rounds < options.concurrency; rounds++) yield* Effect.forkScoped(Effect.forever(round))
    return (input: A, done: Done<B, E>) => {
      Queue.offerUnsafe(queue, { input, done })
    }
  }
)

const make = Effect.fnUntraced(function*<A, B, E, R>(options: Options<A, B, E, R>) {
  const { waitWithoutConnection } = yield* Database
  const submit = yield* makeWithCallback(options)
  return (input: A): Effect.Effect<B, E> =>
    waitWithoutConnection(Effect.callback<B, E>((resume) => submit(input, resume)))
})

/**
 * Writes all inputs that arrive while the last group runs as one group, so that they share a transaction. A group that
 * fails runs once more input by input, so that one bad input fails its own caller only. When the database is unavailable,
 * all callers of the group fail.
 */
export const GroupCommit = {
  /**
   * For callers that wait: the effect ends after the statement that contains its input has committed. A caller must not
   * be in a transaction of the same pool, because the group needs another connection.
   */
  make,
  /** For callers that must not wait, such as socket handlers. */
  makeWithCallback
}
