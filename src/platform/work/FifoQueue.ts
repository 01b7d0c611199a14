interface Entry<A> {
  readonly value: A
  previous: Entry<A> | undefined
  next: Entry<A> | undefined
  removed: boolean
}

/**
 * A first-in, first-out queue from which any entry can be removed early. Each operation costs the same however long the
 * queue is.
 *
 * A linked list instead of a Set for the sake of garbage collection: a Set with many additions and deletions leaves
 * outgrown tables behind, and each refers to the next. Once one of them is in V8's old space, everything it referred to
 * (a message, a request) stays until a full collection. A removed entry refers to nothing.
 */
export class FifoQueue<A> {
  #first: Entry<A> | undefined
  #last: Entry<A> | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  /** The oldest value, which stays in the queue; undefined when the queue is empty. */
  get first(): A | undefined {
    return this.#first?.value
  }

  /** Adds a value at the end. The returned function removes it; after `dequeue` returned the value it does nothing. */
  enqueue(value: A): () => void {
    const entry: Entry<A> = { value, previous: this.#last, next: undefined, removed: false }
    if (this.#last === undefined) this.#first = entry
    else this.#last.next = entry
    this.#last = entry
    this.#size++
    return () => this.#remove(entry)
  }

  /** Removes and returns the oldest value. */
  dequeue(): A | undefined {
    const entry = this.#first
    if (entry !== undefined) this.#remove(entry)
    return entry?.value
  }

  #remove(entry: Entry<A>): void {
    if (entry.removed) return
    const { next, previous } = entry
    if (previous === undefined) this.#first = next
    else previous.next = next
    if (next === undefined) this.#last = previous
    else next.previous = previous
    entry.removed = true
    entry.previous = undefined
    entry.next = undefined
    this.#size--
  }
}
