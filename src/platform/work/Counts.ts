import { Effect } from "effect"
import { PeriodicTask } from "./PeriodicTask.ts"

interface Options<Count, R> {
  /** The name of the task in logs. */
  readonly task: string
  /** Counts with the same key become one. */
  readonly keyOf: (count: Count) => string
  readonly sum: (one: Count, other: Count) => Count
  /** Adds the counts to their rows, in one statement for all. */
  readonly write: (counts: ReadonlyArray<Count>) => Effect.Effect<void, never, R>
}

const interval = "2 seconds"

/**
 * Gives a function that counts in memory, and stores the counts every two seconds and when the scope closes. So what is counted
 * waits for no statement. `kill -9` loses the counts of two seconds. While the database refuses them they wait, one for each
 * key. Those of a statement that committed and lost its answer count twice.
 */
export const makeCounts = Effect.fnUntraced(function*<Count, R>({ keyOf, sum, task, write }: Options<Count, R>) {
  let counts = new Map<string, Count>()

  const add = (count: Count): void => {
    const key = keyOf(count)
    const before = counts.get(key)
    counts.set(key, before === undefined ? count : sum(before, count))
  }

  const store = Effect.suspend(() => {
    const given = [...counts.values()]
    counts = new Map()
    return given.length === 0 ? Effect.void : Effect.onError(write(given), () => Effect.sync(() => given.forEach(add)))
  })

  yield* Effect.addFinalizer(() => Effect.ignoreCause(Effect.timeout(store, interval)))
  yield* Effect.forkScoped(PeriodicTask.repeat(task, interval, store))
  return add
})
