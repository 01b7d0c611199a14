import type { Taken } from "./QueueRepo.ts"

/** A queue whose head moves, because shifting an array costs its length. */
class Fifo {
  #items: Array<Taken> = []
  #head = 0

  get size(): number {
    return this.#items.length - this.#head
  }

  push(items: ReadonlyArray<Taken>): void {
    this.#items = [...this.#items.slice(this.#head), ...items]
    this.#head = 0
  }

  shift(): Taken | undefined {
    const item = this.#items[this.#head]
    if (item !== undefined) this.#head++
    return item
  }
}

/** Of so many turns one is a due retry's while fresh deliveries wait. */
const turnsPerRetry = 4

/**
 * What an actor has in memory and has not begun: first attempts in the order of their events, and due retries, which get
 * one of four turns. So a pile of retries does not delay what is new, and a flood of new ones does not starve retries.
 */
export class Waiting {
  readonly #fresh = new Fifo()
  readonly #retries = new Fifo()
  #turn = 0

  get size(): number {
    return this.#fresh.size + this.#retries.size
  }

  push(deliveries: ReadonlyArray<Taken>): void {
    const fresh = deliveries.filter(({ attempt_count }) => attempt_count === 0)
    const retries = deliveries.filter(({ attempt_count }) => attempt_count > 0)
    if (fresh.length > 0) this.#fresh.push(fresh)
    if (retries.length > 0) this.#retries.push(retries)
  }

  next(): Taken | undefined {
    this.#turn = (this.#turn + 1) % turnsPerRetry
    const retryFirst = this.#turn === 0 || this.#fresh.size === 0
    return retryFirst ? this.#retries.shift() ?? this.#fresh.shift() : this.#fresh.shift()
  }
}
