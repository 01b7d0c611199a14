import { FifoQueue } from "./FifoQueue.ts"

/** Most requests in flight. */
export interface HostSlotsOptions {
  readonly perHost: number
  readonly total: number
}

interface Host {
  running: number
  /** Requests that wait for a slot, oldest first. */
  readonly waiting: FifoQueue<() => void>
}

/**
 * Bounds the requests in flight, per host and in total. Free slots go round the waiting hosts. The wait for a slot comes
 * before the request's deadline: an endpoint must not fail because other requests to its host, perhaps of another
 * account, delayed its own.
 */
export class HostSlots {
  readonly #options: HostSlotsOptions
  readonly #hosts = new Map<string, Host>()
  /** The hosts with waiting requests; the first is the next to get a slot. */
  readonly #waitingHosts = new Set<Host>()
  #running = 0

  constructor(options: HostSlotsOptions) {
    this.#options = options
  }

  /** Calls `start`, now or later, with a slot that {@link release} frees. The returned function cancels the wait. */
  acquire(key: string, start: () => void): () => void {
    const host = this.#hosts.get(key) ?? { running: 0, waiting: new FifoQueue<() => void>() }
    this.#hosts.set(key, host)
    if (this.#running < this.#options.total && this.#hasRoom(host)) {
      this.#start(host, start)
      return () => {}
    }
    const cancel = host.waiting.enqueue(start)
    this.#waitingHosts.add(host)
    return () => {
      cancel()
      this.#forget(key, host)
    }
  }

  /** Frees a slot, and starts the next waiting request. */
  release(key: string): void {
    const host = this.#hosts.get(key)
    if (host === undefined) return
    host.running--
    this.#running--
    this.#startNext()
    this.#forget(key, host)
  }

  #hasRoom(host: Host): boolean {
    return host.running < this.#options.perHost
  }

  #start(host: Host, start: () => void): void {
    host.running++
    this.#running++
    start()
  }

  #startNext(): void {
    for (const host of this.#waitingHosts) {
      if (!this.#hasRoom(host)) continue
      this.#waitingHosts.delete(host)
      const start = host.waiting.dequeue()
      if (start === undefined) continue
      if (host.waiting.size > 0) this.#waitingHosts.add(host)
      return this.#start(host, start)
    }
  }

  #forget(key: string, host: Host): void {
    if (host.running > 0 || host.waiting.size > 0) return
    this.#hosts.delete(key)
    this.#waitingHosts.delete(host)
  }
}
