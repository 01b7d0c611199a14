import { Effect, PartitionedSemaphore, Semaphore } from "effect"

export interface OriginSlotsOptions {
  readonly perOrigin: number
  readonly total: number
}

interface Origin {
  readonly semaphore: Semaphore.Semaphore
  users: number
}

/**
 * Bounds how many requests are under way, to one origin and in all, with free slots of the total going round the
 * origins that wait. It stands before the clock of a request: an endpoint is not failed for the time that others
 * (perhaps of another account, at the same host) kept its request waiting.
 */
export const makeOriginSlots = (options: OriginSlotsOptions) => {
  const total = PartitionedSemaphore.makeUnsafe<string>({ permits: options.total })
  const origins = new Map<string, Origin>()

  const enter = (key: string): Origin => {
    const origin = origins.get(key) ?? { semaphore: Semaphore.makeUnsafe(options.perOrigin), users: 0 }
    origin.users++
    origins.set(key, origin)
    return origin
  }
  const leave = (key: string, origin: Origin): void => {
    origin.users--
    if (origin.users === 0) origins.delete(key)
  }

  /** Runs the effect in a slot of the origin. */
  return <A, E, R>(key: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.acquireUseRelease(
      Effect.sync(() => enter(key)),
      (origin) => origin.semaphore.withPermit(total.withPermit(key)(effect)),
      (origin) => Effect.sync(() => leave(key, origin))
    )
}
