import { Effect, Fiber, Ref, Schedule } from "effect"

/** Bytes of a process right after a collection. */
export interface Memory {
  /** What is resident; of what was garbage much may still be there. */
  readonly resident: number
  /** What is in use. */
  readonly live: number
}

const afterCollection = (options?: NodeJS.GCOptions): Memory => {
  if (globalThis.gc === undefined) throw new Error("the process was started without --expose-gc")
  if (options === undefined) globalThis.gc()
  else globalThis.gc(options)
  const { arrayBuffers, heapUsed, rss } = process.memoryUsage()
  return { resident: rss, live: heapUsed + arrayBuffers }
}

/** Collects, and says what is left; V8 keeps the pages that are free then, to use them again. */
export const memoryCollected = (): Memory => afterCollection()

/** Collects as if memory were short, so that V8 also gives back its free pages, and says what is left. */
export const memoryGivenBack = (): Memory =>
  afterCollection({ type: "major", flavor: "last-resort", execution: "sync" })

/** The highest megabytes of a process while something runs, by a sample every half second. */
export const highestMemory = Effect.fnUntraced(
  function*<A, E, R>(ask: Effect.Effect<Partial<Memory>>, work: Effect.Effect<A, E, R>) {
    const highest = yield* Ref.make<Memory>({ resident: 0, live: 0 })
    const sample = Effect.gen(function*() {
      const { live = 0, resident = 0 } = yield* ask
      yield* Ref.update(highest, (before) => ({
        resident: Math.max(before.resident, resident / 1e6),
        live: Math.max(before.live, live / 1e6)
      }))
    })
    const sampling = yield* Effect.forkChild(Effect.repeat(sample, Schedule.spaced("500 millis")))
    const result = yield* work
    yield* Fiber.interrupt(sampling)
    return { memory: yield* Ref.get(highest), result }
  }
)
