export interface OriginSlotsOptions {
  readonly perOrigin: number
  readonly total: number
}

interface Origin {
  running: number
  /** Those who wait for a slot, in the order in which they came. */
  readonly waiting: Set<() => void>
}

/**
 * Bounds how many requests are under way, to one origin and in all, with free slots going round the origins that wait.
 * It stands before the clock of a request: an endpoint is not failed for the time that others (perhaps of another
 * account, at the same host) kept its request waiting.
 */
export class OriginSlots {
  readonly #options: OriginSlotsOptions
  readonly #origins = new Map<string, Origin>()
  /** The origins where somebody waits, the one whose turn is next in front. */
  readonly #queue = new Set<Origin>()
  #running = 0

  constructor(options: OriginSlotsOptions) {
    this.#options = options
  }

  /** Calls `start`, at once or later, when it has a slot; {@link leave} gives it back. The result withdraws from waiting. */
  enter(key: string, start: () => void): () => void {
    const origin = this.#origins.get(key) ?? { running: 0, waiting: new Set() }
    this.#origins.set(key, origin)
    if (this.#running < this.#options.total && this.#hasRoom(origin)) {
      this.#begin(origin, start)
      return () => {}
    }
    origin.waiting.add(start)
    this.#queue.add(origin)
    return () => {
      origin.waiting.delete(start)
      this.#forget(key, origin)
    }
  }

  leave(key: string): void {
    const origin = this.#origins.get(key)
    if (origin === undefined) return
    origin.running--
    this.#running--
    this.#next()
    this.#forget(key, origin)
  }

  #hasRoom(origin: Origin): boolean {
    return origin.running < this.#options.perOrigin
  }

  #begin(origin: Origin, start: () => void): void {
    origin.running++
    this.#running++
    start()
  }

  #next(): void {
    for (const origin of this.#queue) {
      if (!this.#hasRoom(origin)) continue
      this.#queue.delete(origin)
      const [start] = origin.waiting
      if (start === undefined) continue
      origin.waiting.delete(start)
      if (origin.waiting.size > 0) this.#queue.add(origin)
      return this.#begin(origin, start)
    }
  }

  #forget(key: string, origin: Origin): void {
    if (origin.running > 0 || origin.waiting.size > 0) return
    this.#origins.delete(key)
    this.#queue.delete(origin)
  }
}
