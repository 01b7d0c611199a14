interface Place<A> {
  readonly value: A
  earlier: Place<A> | undefined
  later: Place<A> | undefined
  left: boolean
}

/**
 * First come, first served, and anybody may leave before it is their turn; each step costs the same however long the
 * line is.
 *
 * A Set would do, but for garbage: one that is added to and deleted from all the time leaves its outgrown tables behind,
 * and each leads to the next. Once one of them is in V8's old space, all that they held stays there until a full
 * collection: a message, a request. Whoever has left this line leads nowhere.
 */
export class Line<A> {
  #first: Place<A> | undefined
  #last: Place<A> | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Whose turn it is; undefined when nobody is there. */
  get first(): A | undefined {
    return this.#first?.value
  }

  /** Goes to the end. The result leaves again; for one whose turn came it does nothing. */
  join(value: A): () => void {
    const place: Place<A> = { value, earlier: this.#last, later: undefined, left: false }
    if (this.#last === undefined) this.#first = place
    else this.#last.later = place
    this.#last = place
    this.#size++
    return () => this.#leave(place)
  }

  /** Takes whose turn it is out of the line. */
  next(): A | undefined {
    const place = this.#first
    if (place !== undefined) this.#leave(place)
    return place?.value
  }

  #leave(place: Place<A>): void {
    if (place.left) return
    const { earlier, later } = place
    if (earlier === undefined) this.#first = later
    else earlier.later = later
    if (later === undefined) this.#last = earlier
    else later.earlier = earlier
    place.left = true
    place.earlier = undefined
    place.later = undefined
    this.#size--
  }
}
