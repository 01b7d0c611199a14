import type { InFlightDeliveries } from "./InFlightDeliveries.ts"
import type { Taken } from "./QueueRepo.ts"

/** What a look at the table has taken. */
interface Look {
  readonly deliveries: ReadonlyArray<Taken>
  /** Whether more first attempts may wait than were taken. */
  readonly isFull: boolean
}

/**
 * How far the memory of an actor has caught up with its table: only when all that waits there is in memory as well may
 * what is committed follow it past the table. So the order of events is kept, and nobody waits behind newer ones.
 */
export class QueueCursor {
  readonly #slots: InFlightDeliveries
  #isDone = false
  /** What was committed here during a look, which may have missed it; undefined while nobody looks. */
  #meanwhile: Array<Taken> | undefined
  /** The newest that came from the table. */
  #newest = 0

  constructor(slots: InFlightDeliveries) {
    this.#slots = slots
  }

  /** Whether the table holds no first attempt that is not in memory. */
  get isDone(): boolean {
    return this.#isDone
  }

  /** Something waits in the table that is not in memory. */
  fallBehind(): void {
    this.#isDone = false
  }

  /** Deliveries that were just committed: they go to memory where they follow all that is in the table. */
  handOver(deliveries: ReadonlyArray<Taken>): void {
    if (this.#meanwhile !== undefined) this.#meanwhile.push(...deliveries)
    else if (this.#isDone) this.#follow(deliveries)
  }

  /** A look at the table begins. */
  begin(): void {
    this.#meanwhile = []
    this.#isDone = true
  }

  /** The look has ended; undefined when nothing is known of it. */
  end(look: Look | undefined): void {
    const late = this.#meanwhile ?? []
    this.#meanwhile = undefined
    this.#newest = Math.max(this.#newest, ...look?.deliveries.map(({ id }) => id) ?? [])
    this.#slots.add(look?.deliveries ?? [])
    if (look === undefined || look.isFull) this.#isDone = false
    else this.#follow(late)
  }

  /**
   * They are in memory from now on; without room they stay where they are. So does what is not newer than all that came
   * from the table: a look may have found it before its commit was told of, and it may have been sent since.
   */
  #follow(deliveries: ReadonlyArray<Taken>): void {
    const newer = deliveries.filter(({ id }) => id > this.#newest)
    if (this.#slots.hasRoomFor(newer.length)) this.#slots.add(newer)
    if (deliveries.some(({ id }) => !this.#slots.held.has(id))) this.#isDone = false
  }
}
