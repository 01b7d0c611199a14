import { Line } from "./FifoQueue.ts"

export interface HostSlotsOptions {
  readonly perHost: number
  readonly total: number
}

interface Host {
  running: number
  /** Those who wait for a slot, in the order in which they came. */
  readonly waiting: Line<() => void>
}

/**
 * Bounds how many requests are under way, to one host and in all, with free slots going round the hosts that wait.
 * It stands before the clock of a request: an endpoint is not failed for the time that others (perhaps of another
 * account, at the same host) kept its request waiting.
 */
export class HostSlots {
  readonly #options: HostSlotsOptions
  readonly #hosts = new Map<string, Host>()
  /** The hosts where somebody waits, the one whose turn is next in front. */
  readonly #queue = new Set<Host>()
  #running = 0

  constructor(options: HostSlotsOptions) {
    this.#options = options
  }

  /** Calls `start`, at once or later, when it has a slot; {@link leave} gives it back. The result withdraws from waiting. */
  enter(key: string, start: () => void): () => void {
    const host = this.#hosts.get(key) ?? { running: 0, waiting: new Line<() => void>() }
    this.#hosts.set(key, host)
    if (this.#running < this.#options.total && this.#hasRoom(host)) {
      this.#begin(host, start)
      return () => {}
    }
    const leave = host.waiting.join(start)
    this.#queue.add(host)
    return () => {
      leave()
      this.#forget(key, host)
    }
  }

  leave(key: string): void {
    const host = this.#hosts.get(key)
    if (host === undefined) return
    host.running--
    this.#running--
    this.#next()
    this.#forget(key, host)
  }

  #hasRoom(host: Host): boolean {
    return host.running < this.#options.perHost
  }

  #begin(host: Host, start: () => void): void {
    host.running++
    this.#running++
    start()
  }

  #next(): void {
    for (const host of this.#queue) {
      if (!this.#hasRoom(host)) continue
      this.#queue.delete(host)
      const start = host.waiting.next()
      if (start === undefined) continue
      if (host.waiting.size > 0) this.#queue.add(host)
      return this.#begin(host, start)
    }
  }

  #forget(key: string, host: Host): void {
    if (host.running > 0 || host.waiting.size > 0) return
    this.#hosts.delete(key)
    this.#queue.delete(host)
  }
}
