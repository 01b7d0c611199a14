import { FifoQueue } from "../../../platform/work/FifoQueue.ts"
import { TurnQueue } from "../../../platform/work/TurnQueue.ts"
import type { AccountId, EmailBatchId } from "../../../values/Ids.ts"

interface Limits {
  /** Items that may wait. */
  readonly total: number
  /** Items of one account that may wait. */
  readonly perAccount: number
  /** While the oldest item has waited for longer, the queue has no room. */
  readonly busyMillis: number
  /** Items that have waited for longer are released. */
  readonly maxMillis: number
}

interface Item {
  readonly account: AccountId
  readonly batch: EmailBatchId
}

interface Waiting<A> {
  readonly item: A
  readonly since: number
  /** Takes it out of all queues. */
  readonly remove: () => void
}

/** Claimed recipients that wait in memory for a slot. Accounts take turns. Times are in milliseconds of one clock. */
export class DispatchQueue<A extends Item> {
  readonly #limits: Limits
  readonly #turns = new TurnQueue<AccountId, Waiting<A>>(1)
  readonly #ages = new FifoQueue<Waiting<A>>()
  readonly #batches = new Map<EmailBatchId, Set<Waiting<A>>>()
  readonly #accounts = new Map<AccountId, number>()
  readonly #late: Array<A> = []
  #isBehind = false

  constructor(limits: Limits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#ages.size
  }

  /** How many items may be added; none while the queue is behind. */
  room(now: number): number {
    const oldest = this.#ages.first
    const isBehind = oldest !== undefined && now - oldest.since > this.#limits.busyMillis
    return isBehind ? 0 : this.#limits.total - this.size
  }

  /** Whether so many items of an account may be added. */
  hasRoom(account: AccountId, count: number, now: number): boolean {
    return count <= this.room(now) && (this.#accounts.get(account) ?? 0) + count <= this.#limits.perAccount
  }

  /** Adds items that were claimed at a time. */
  add(items: ReadonlyArray<A>, since: number): void {
    for (const item of items) this.#add(item, since)
  }

  /** Notes that items wait elsewhere, because there was no room for them. */
  noteBehind(): void {
    this.#isBehind = true
  }

  /** Whether there is room again for items that wait elsewhere. True once, when three quarters are empty. */
  recovers(): boolean {
    const hasRecovered = this.#isBehind && this.size <= this.#limits.total / 4
    if (hasRecovered) this.#isBehind = false
    return hasRecovered
  }

  /** Takes the items whose turn it is, apart from those that have waited for too long. */
  take(limit: number, now: number): ReadonlyArray<A> {
    const taken: Array<A> = []
    while (taken.length < limit) {
      const waiting = this.#turns.dequeue(() => true)
      if (waiting === undefined) break
      waiting.remove()
      if (this.#isLate(waiting, now)) this.#late.push(waiting.item)
      else taken.push(waiting.item)
    }
    return taken
  }

  /** Takes the items that have waited for too long. */
  takeLate(now: number): ReadonlyArray<A> {
    for (let oldest = this.#ages.first; oldest !== undefined && this.#isLate(oldest, now); oldest = this.#ages.first) {
      oldest.remove()
      this.#late.push(oldest.item)
    }
    return this.#late.splice(0)
  }

  /** Takes the items of a batch. */
  takeBatch(batch: EmailBatchId): ReadonlyArray<A> {
    const items = [...this.#batches.get(batch) ?? []]
    for (const { remove } of items) remove()
    return items.map(({ item }) => item)
  }

  /** Takes all items. */
  takeAll(): ReadonlyArray<A> {
    return this.takeLate(Number.POSITIVE_INFINITY)
  }

  #isLate({ since }: Waiting<A>, now: number): boolean {
    return now - since > this.#limits.maxMillis
  }

  #add(item: A, since: number): void {
    const { account, batch } = item
    const waiting: Waiting<A> = {
      item,
      since,
      remove: () => {
        leaveTurns()
        leaveAges()
        const ofBatch = this.#batches.get(batch)
        if (ofBatch?.delete(waiting) !== true) return
        if (ofBatch.size === 0) this.#batches.delete(batch)
        const left = (this.#accounts.get(account) ?? 1) - 1
        if (left === 0) this.#accounts.delete(account)
        else this.#accounts.set(account, left)
      }
    }
    const leaveTurns = this.#turns.enqueue(0, account, waiting)
    const leaveAges = this.#ages.enqueue(waiting)
    const ofBatch = this.#batches.get(batch) ?? new Set()
    this.#batches.set(batch, ofBatch.add(waiting))
    this.#accounts.set(account, (this.#accounts.get(account) ?? 0) + 1)
  }
}
