import { Effect, Fiber, Ref, Schedule } from "effect"

/** Bytes of a process after a collection. */
export interface Memory {
  /** Resident memory. It may contain pages that were freed. */
  readonly resident: number
  /** The part in use. */
  readonly live: number
}

const afterCollection = (options?: NodeJS.GCOptions): Memory => {
  if (globalThis.gc === undefined) throw new Error("the process lacks --expose-gc")
  if (options === undefined) globalThis.gc()
  else globalThis.gc(options)
  const { arrayBuffers, heapUsed, rss } = process.memoryUsage()
  return { resident: rss, live: heapUsed + arrayBuffers }
}

/** Collects and measures. V8 keeps the freed pages for later use. */
export const memoryCollected = (): Memory => afterCollection()

/** Collects as if memory were short, so that V8 also returns free pages, and measures. */
export const memoryGivenBack = (): Memory =>
  afterCollection({ type: "major", flavor: "last-resort", execution: "sync" })

/** The peak memory of a process in megabytes during an effect, sampled every half second. */
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
