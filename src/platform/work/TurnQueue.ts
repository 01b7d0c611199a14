import { FifoQueue } from "./FifoQueue.ts"

/** Of so many turns, one passes over the first lane, so that a full lane does not starve the next one. */
const turnsPerLane = 4

/**
 * A queue that is fair between accounts, or between other keys. Earlier lanes have priority, but of those that wait every
 * fourth turn passes over the first one, every sixteenth over the first two, and so on. In a lane the keys take turns; the
 * values of one key are first in, first out.
 */
export class TurnQueue<Key, A> {
  readonly #lanes: ReadonlyArray<Map<Key, FifoQueue<A>>>
  #size = 0
  #turn = 0

  constructor(lanes: number) {
    this.#lanes = Array.from({ length: lanes }, () => new Map())
  }

  get size(): number {
    return this.#size
  }

  /** Adds a value at the end of its key's turn. The returned function removes it, unless it was taken. */
  enqueue(lane: number, key: Key, value: A): () => void {
    const keys = this.#lanes[lane]
    if (keys === undefined) throw new RangeError(`there is no lane ${lane}`)
    const queue = keys.get(key) ?? new FifoQueue<A>()
    const remove = queue.enqueue(value)
    keys.set(key, queue)
    this.#size++
    return () => {
      const before = queue.size
      remove()
      this.#size -= before - queue.size
      if (queue.size === 0 && keys.get(key) === queue) keys.delete(key)
    }
  }

  /** Takes the value whose turn it is, of those that may be taken now. */
  dequeue(mayTake: (lane: number, key: Key) => boolean = () => true): A | undefined {
    const lanes = Array.from(this.#lanes.keys()).filter((lane) => (this.#lanes[lane]?.size ?? 0) > 0)
    const first = this.#passedOver(lanes.length)
    for (const lane of [...lanes.slice(first), ...lanes.slice(0, first)]) {
      const value = this.#takeFrom(lane, mayTake)
      if (value === undefined) continue
      this.#turn++
      this.#size--
      return value
    }
    return undefined
  }

  /** How many of the lanes this turn passes over at first. */
  #passedOver(lanes: number): number {
    let count = 0
    for (let rest = this.#turn + 1; count < lanes - 1 && rest % turnsPerLane === 0; rest /= turnsPerLane) count++
    return count
  }

  #takeFrom(lane: number, mayTake: (lane: number, key: Key) => boolean): A | undefined {
    const keys = this.#lanes[lane] ?? new Map<Key, FifoQueue<A>>()
    for (const [key, queue] of keys) {
      if (!mayTake(lane, key)) continue
      const value = queue.dequeue()
      // A key goes behind the others. One that is alone stays, because a Map with many deletions costs memory.
      if (queue.size === 0 || keys.size > 1) keys.delete(key)
      if (queue.size > 0) keys.set(key, queue)
      return value
    }
    return undefined
  }
}
