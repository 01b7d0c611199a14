import { Clock, Duration, Effect, Exit, FiberSet } from "effect"
import type { WebhookId } from "../../values/Ids.ts"
import { Held } from "./ClaimedIds.ts"
import { greatestWidth, widthAfter } from "./concurrencyLimit.ts"
import { type Courier, type Destination, makeCourier } from "./DeliveryAttempt.ts"
import { DeliveryBudget } from "./DeliveryBudget.ts"
import { type AttemptRecord, DeliveryOutcomes } from "./DeliveryOutcomes.ts"
import { Waiting } from "./FairQueue.ts"
import type { Taken } from "./QueueRepo.ts"

/** Deliveries of one webhook in memory at once. */
const capacity = 500

/** When no more than that wait for a place, it is time to look for more; what an actor takes at once on a busy node. */
const grip = 100

/** Answered deliveries whose outcomes may be unwritten at once: a crash would have them sent again. */
const mostUnwritten = 100

interface Surroundings {
  readonly id: WebhookId
  /** Called when few wait, when nothing is left, and when a retry was planned. */
  readonly changed: () => void
  readonly outcomes: DeliveryOutcomes["Service"]
  readonly courier: Courier
  readonly clock: Clock.Clock
  readonly run: (effect: Effect.Effect<void>) => void
  readonly allowance: DeliveryBudget["Service"]
}

/**
 * The deliveries of one webhook that are in memory: those that wait for a place, those under way, and those whose outcome
 * is being written.
 */
export class InFlightDeliveries {
  readonly #around: Surroundings
  readonly #held: Held
  readonly #waiting = new Waiting()
  #destination: Destination | undefined
  #width = greatestWidth
  #underWay = 0
  #unwritten = 0
  #planned: Array<number> = []

  constructor(around: Surroundings) {
    this.#around = around
    this.#held = new Held(around.allowance)
  }

  static readonly make = Effect.fnUntraced(function*(id: WebhookId, changed: () => void) {
    const outcomes = yield* DeliveryOutcomes
    const courier = yield* makeCourier
    const clock = yield* Clock.Clock
    const allowance = yield* DeliveryBudget
    const run = yield* FiberSet.makeRuntime<never, void, never>()
    return new InFlightDeliveries({ id, changed, outcomes, courier, clock, run, allowance })
  })

  get held(): Held {
    return this.#held
  }

  get isBusy(): boolean {
    return this.#underWay + this.#unwritten > 0
  }

  /** Whether so many wait for a place that `changed` will be called when they become few. */
  get hasPlenty(): boolean {
    return this.#waiting.size > grip
  }

  /**
   * How many may be taken now of each of so many kinds, first attempts and retries: all that there is room for while the
   * node holds few, and on a full node what can begin at once.
   */
  wanted(kinds: number): number {
    const { hasRoomFor } = this.#around.allowance
    if (!hasRoomFor(kinds * grip)) return this.#waiting.size === 0 ? greatestWidth : 0
    if (this.#waiting.size > grip) return 0
    return hasRoomFor(16 * capacity) ? Math.floor((capacity - this.#held.size) / kinds) : grip
  }

  hasRoomFor(count: number): boolean {
    return count <= capacity - this.#held.size && this.#around.allowance.hasRoomFor(count)
  }

  /** Takes deliveries in, but for those it has already. */
  add(deliveries: ReadonlyArray<Taken>): void {
    this.#waiting.push(deliveries.filter(({ id }) => this.#held.add(id)))
    this.#start()
  }

  /** Sends to this endpoint from now on; undefined begins nothing new. */
  sendTo(destination: Destination | undefined): void {
    this.#destination = destination
    this.#start()
  }

  /** Forgets what has not begun: it is in nobody's hands then. */
  drop(): void {
    for (let taken = this.#waiting.next(); taken !== undefined; taken = this.#waiting.next()) {
      this.#held.delete(taken.id)
    }
  }

  /** When the retries that were planned since the last time are due, in Unix milliseconds. */
  takePlanned(): ReadonlyArray<number> {
    const planned = this.#planned
    this.#planned = []
    return planned
  }

  #start(): void {
    while (this.#underWay < Math.floor(this.#width)) {
      const taken = this.#next()
      if (taken === undefined) return
      this.#underWay++
      this.#around.run(this.#serve(taken.delivery, taken.to))
    }
  }

  #next() {
    const to = this.#destination
    if (to === undefined || this.#unwritten >= mostUnwritten) return undefined
    const delivery = this.#waiting.next()
    if (this.#waiting.size === grip || this.#waiting.size === 0) this.#around.changed()
    return delivery && { delivery, to }
  }

  /** One place, as long as there is something for it. It is free again when the endpoint has answered. */
  #serve(delivery: Taken, to: Destination): Effect.Effect<void> {
    const { courier, id } = this.#around
    return Effect.flatMap(courier.attempt(id, to, delivery), (record) => {
      this.#width = widthAfter(this.#width, record.transition.error === null)
      this.#record(record)
      const next = this.#underWay <= this.#width ? this.#next() : undefined
      if (next !== undefined) return this.#serve(next.delivery, next.to)
      this.#underWay--
      return Effect.void
    })
  }

  #record(record: AttemptRecord): void {
    this.#unwritten++
    this.#around.outcomes.record(record, (exit) => {
      this.#unwritten--
      const delay = record.transition.next_delay
      // What cannot be written stays held, hence taken: sent again at once, it would fail for ever.
      if (Exit.isSuccess(exit)) this.#held.delete(record.deliveryId)
      if (delay !== undefined) {
        this.#planned.push(this.#around.clock.currentTimeMillisUnsafe() + Duration.toMillis(delay))
      }
      this.#start()
      if (delay !== undefined || !this.isBusy) this.#around.changed()
    })
  }
}
