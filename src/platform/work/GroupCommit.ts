import { type Duration, Effect, Exit, Fiber, Scheduler, type Scope } from "effect"
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
    const scope = yield* Effect.scope
    const dispatcher = (yield* Scheduler.Scheduler).makeDispatcher()
    const run = Effect.runForkWith(yield* Effect.context<R>())
    const waiting: Array<Call<A, B, E>> = []
    let running = 0
    let isStarting = false

    const write = (calls: Group): Effect.Effect<void, never, R> =>
      Effect.flatMap(Effect.exit(Effect.suspend(() => options.run(calls.map((call) => call.input)))), (exit) => {
        if (Exit.isFailure(exit) && calls.length > 1 && !isDatabaseUnavailable(exit.cause)) {
          return Effect.forEach(calls, (call) => write([call]), { discard: true })
        }
        // `run` promises one output for each input, hence `as B`.
        for (const [index, { done }] of calls.entries()) done(Exit.map(exit, (outputs) => outputs[index] as B))
        return Effect.void
      })

    const round = (calls: Group) => {
      // Without this, callers of a closing scope would wait forever.
      const written = Effect.onInterrupt(write(calls), () =>
        Effect.sync(() => {
          for (const { done } of calls) done(Exit.interrupt())
        }))
      return options.pause === undefined ? written : Effect.andThen(written, Effect.sleep(options.pause))
    }

    const start = () => {
      isStarting = false
      while (running < options.concurrency && waiting.length > 0) {
        running++
        Fiber.runIn(run(round(waiting.splice(0, options.maxSize))), scope).addObserver(() => {
          running--
          startSoon()
        })
      }
    }
    /** All that arrives in this turn of the event loop becomes one group. */
    const startSoon = () => {
      if (isStarting || running === options.concurrency || waiting.length === 0) return
      isStarting = true
      dispatcher.scheduleTask(start, 0)
    }
    return (input: A, done: Done<B, E>) => {
      waiting.push({ input, done })
      startSoon()
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
