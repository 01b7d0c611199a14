import type { AccountId } from "../../values/Ids.ts"
import { TurnQueue } from "../work/TurnQueue.ts"

/** Most requests in flight. */
export interface HostSlotsOptions {
  readonly perHost: number
  readonly total: number
}

/** Whose request it is, if it is an account's, and the host that it goes to. */
export interface SlotKey {
  readonly account: AccountId | undefined
  readonly host: string
}

interface Waiting {
  readonly key: SlotKey
  readonly start: () => void
}

/** The part of all slots, and of those of a host, that one account may use. The others stay free for other accounts. */
const accountShare = 3 / 4

/** Counts by key. A key without a count costs nothing. */
class Counts {
  readonly #counts = new Map<string | number, number>()

  of(key: string | number): number {
    return this.#counts.get(key) ?? 0
  }

  change(key: string | number, by: 1 | -1): void {
    const count = this.of(key) + by
    if (count === 0) this.#counts.delete(key)
    else this.#counts.set(key, count)
  }
}

const onHost = ({ account, host }: SlotKey) => `${account} ${host}`

/**
 * Bounds the requests in flight: per host, per account, and in total. Free slots go round the waiting accounts, and round
 * the hosts of each account. So an account with many slow endpoints, or with a slow one at a host that it shares, delays
 * no other account. The wait for a slot comes before the request's deadline: an endpoint must not fail because other
 * requests delayed its own.
 */
export class HostSlots {
  readonly #options: HostSlotsOptions
  readonly #hosts = new Counts()
  readonly #accounts = new Counts()
  readonly #accountsOnHosts = new Counts()
  /** The requests of each account that wait for a slot. */
  readonly #waiting = new Map<AccountId | undefined, TurnQueue<string, Waiting>>()
  #running = 0

  constructor(options: HostSlotsOptions) {
    this.#options = options
  }

  /** Calls `start`, now or later, with a slot that {@link release} frees. The returned function cancels the wait. */
  acquire(key: SlotKey, start: () => void): () => void {
    if (this.#hasRoom(key)) {
      this.#start({ key, start })
      return () => {}
    }
    const { account, host } = key
    const queue = this.#waiting.get(account) ?? new TurnQueue<string, Waiting>(1)
    this.#waiting.set(account, queue)
    const cancel = queue.enqueue(0, host, { key, start })
    return () => {
      cancel()
      if (queue.size === 0 && this.#waiting.get(account) === queue) this.#waiting.delete(account)
    }
  }

  /** Frees a slot, and starts the next waiting request. */
  release(key: SlotKey): void {
    this.#count(key, -1)
    for (const [account, queue] of this.#waiting) {
      const next = queue.dequeue((_, host) => this.#hasRoom({ account, host }))
      if (next === undefined) continue
      // The account goes behind the others.
      this.#waiting.delete(account)
      if (queue.size > 0) this.#waiting.set(account, queue)
      return this.#start(next)
    }
  }

  #hasRoom(key: SlotKey): boolean {
    const { perHost, total } = this.#options
    if (this.#running >= total || this.#hosts.of(key.host) >= perHost) return false
    if (key.account === undefined) return true
    return this.#accounts.of(key.account) < Math.ceil(total * accountShare) &&
      this.#accountsOnHosts.of(onHost(key)) < Math.ceil(perHost * accountShare)
  }

  #start({ key, start }: Waiting): void {
    this.#count(key, 1)
    start()
  }

  #count(key: SlotKey, by: 1 | -1): void {
    this.#running += by
    this.#hosts.change(key.host, by)
    if (key.account === undefined) return
    this.#accounts.change(key.account, by)
    this.#accountsOnHosts.change(onHost(key), by)
  }
}
