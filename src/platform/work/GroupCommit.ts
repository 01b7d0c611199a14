import { type Duration, Effect, Exit, Queue, type Scope } from "effect"
import { isDatabaseUnavailable } from "../database/isDatabaseUnavailable.ts"

interface Call<A, B, E> {
  readonly input: A
  readonly done: (exit: Exit.Exit<B, E>) => void
}

export interface GroupOptions<A, B, E, R> {
  /** The most inputs of one call. */
  readonly most: number
  /** Calls under way at once: 2 keeps PostgreSQL busy while this process prepares the next. */
  readonly concurrency: number
  /** How long each rests after a call: whoever comes alone does not wait, and under load groups become larger. */
  readonly rest?: Duration.Input
  readonly run: (inputs: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E, R>
}

/**
 * Group commit: makes one call of many that arrive while the last one runs. `done` is told when the statement that holds
 * its own input is through, so what it is told is committed. `run` answers in the order of its inputs and does all of
 * them or none. A group that fails is run once more one by one, so that nobody fails for another's input; when the
 * database is away, all fail alike.
 */
export const group: <A, B, E, R>(
  options: GroupOptions<A, B, E, R>
) => Effect.Effect<(input: A, done: (exit: Exit.Exit<B, E>) => void) => void, never, R | Scope.Scope> = Effect
  .fnUntraced(
    function*<A, B, E, R>(options: GroupOptions<A, B, E, R>) {
      type Group = ReadonlyArray<Call<A, B, E>>
      const queue = yield* Queue.unbounded<Call<A, B, E>>()

      const perform = (calls: Group): Effect.Effect<void, never, R> =>
        Effect.gen(function*() {
          const exit = yield* Effect.exit(Effect.suspend(() => options.run(calls.map((call) => call.input))))
          if (Exit.isFailure(exit) && calls.length > 1 && !isDatabaseUnavailable(exit.cause)) {
            return yield* Effect.forEach(calls, (call) => perform([call]), { discard: true })
          }
          // One output for each input is what `run` promises, hence the `as B` below.
          for (const [index, { done }] of calls.entries()) done(Exit.map(exit, (outputs) => outputs[index] as B))
        })

      const round = Effect.gen(function*() {
        const calls = yield* Queue.takeBetween(queue, 1, options.most)
        // Whoever waits for one that is being closed would wait for ever.
        yield* Effect.onInterrupt(perform(calls), () =>
          Effect.sync(() => {
            for (const { done } of calls) done(Exit.interrupt())
          }))
        if (options.rest !== undefined) yield* Effect.sleep(options.rest)
      })
      for (let rounds = 0; rounds < options.concurrency; rounds++) yield* Effect.forkScoped(Effect.forever(round))
      return (input: A, done: (exit: Exit.Exit<B, E>) => void) => {
        Queue.offerUnsafe(queue, { input, done })
      }
    }
  )

/** {@link group} for callers that wait: the effect ends with the statement that holds its input. */
export const coalesce = <A, B, E, R>(
  options: GroupOptions<A, B, E, R>
): Effect.Effect<(input: A) => Effect.Effect<B, E>, never, R | Scope.Scope> =>
  Effect.map(group(options), (submit) => (input: A) => Effect.callback<B, E>((resume) => submit(input, resume)))
