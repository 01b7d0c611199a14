import { Clock, Context, Duration, Effect, Exit, FiberSet, Layer, Semaphore } from "effect"
import { millisOf } from "../../platform/schedule/monotonic.ts"
import { FifoQueue } from "../../platform/work/FifoQueue.ts"
import type { DeliveryId, WebhookId } from "../../values/Ids.ts"
import { countAttempt } from "./attemptMetrics.ts"
import * as DeliveryAttempt from "./DeliveryAttempt.ts"
import { DeliveryOutcomes } from "./DeliveryOutcomes.ts"
import type { ClaimedDelivery } from "./QueueRepo.ts"

/** The most deliveries of all webhooks in one node's memory. */
const nodeCapacity = 10_000

/** The most statements of all actors of a node at once. The queue's pool keeps its other connections for outcomes. */
const statements = 2

/** Limits that all actors of a node share: room in memory, and statements on the queue. A thousand may wake at once. */
export class DeliveryBudget extends Context.Service<DeliveryBudget, {
  /** Whether this many more deliveries may come into memory. */
  readonly hasRoomFor: (count: number) => boolean
  /** Counts deliveries that come into memory, or leave it. */
  readonly count: (change: number) => void
  /** Reserves room for deliveries while they are being claimed, because other actors claim at the same time. */
  readonly reserve: <A, E, R>(deliveries: number, effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Runs a statement on the queue when a permit is free. */
  readonly withQueryPermit: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}>()("messaging-service/webhooks/delivery/InFlightDeliveries/DeliveryBudget") {
  static readonly layer = Layer.effect(
    DeliveryBudget,
    Effect.map(Semaphore.make(statements), (permits) => {
      let inMemory = 0
      const count = (change: number) => {
        inMemory += change
      }
      return DeliveryBudget.of({
        hasRoomFor: (count) => inMemory + count <= nodeCapacity,
        count,
        reserve: (deliveries, effect) =>
          Effect.acquireUseRelease(
            Effect.sync(() => count(deliveries)),
            () => effect,
            () => Effect.sync(() => count(-deliveries))
          ),
        withQueryPermit: permits.withPermits(1)
      })
    })
  )
}

/** The most deliveries of one webhook in memory, beside the retries that wait. */
const capacity = 500

/**
 * The actor claims more when at most this many wait to start. On a busy node it is also the claim size. It is the most
 * retries that wait.
 */
const claimSize = 100

/** The actor claims more retries when at most this many wait to start. */
const fewRetries = claimSize / 2

/** The most answered deliveries whose outcomes are not written yet: after a crash they are sent again. */
const maxUnwritten = 100

/** How long a delivery stays in memory whose outcome the database refuses for good. Then it is sent again. */
const unwritableTimeout = "5 minutes"

/** The most attempts of one webhook in flight while its endpoint succeeds. */
export const maxConcurrency = 8

const minConcurrency = 1
const growth = 0.1

/**
 * The concurrency limit after an attempt (additive increase, multiplicative decrease). Three failures bring it from
 * eight to one; ten successes raise it by one. Only its whole part counts.
 */
export const adjustLimit = (limit: number, succeeded: boolean): number =>
  succeeded ? Math.min(maxConcurrency, limit + growth) : Math.max(minConcurrency, limit / 2)

/** While first attempts wait, every fourth turn goes to a due retry. */
const turnsPerRetry = 4

/**
 * The deliveries in memory that have not started: first attempts in the order of their events, and due retries. A pile
 * of retries does not delay new events, and a flood of new events does not starve retries.
 */
export class FairQueue {
  readonly #firstAttempts = new FifoQueue<ClaimedDelivery>()
  readonly #retries = new FifoQueue<ClaimedDelivery>()
  #turn = 0

  get size(): number {
    return this.#firstAttempts.size + this.#retries.size
  }

  get retries(): number {
    return this.#retries.size
  }

  push(deliveries: ReadonlyArray<ClaimedDelivery>): void {
    for (const delivery of deliveries) {
      ;(delivery.attempt_count === 0 ? this.#firstAttempts : this.#retries).enqueue(delivery)
    }
  }

  next(): ClaimedDelivery | undefined {
    this.#turn = (this.#turn + 1) % turnsPerRetry
    const retryFirst = this.#turn === 0 || this.#firstAttempts.size === 0
    return retryFirst ? this.#retries.dequeue() ?? this.#firstAttempts.dequeue() : this.#firstAttempts.dequeue()
  }
}

interface Dependencies {
  readonly webhookId: WebhookId
  /** Called when few deliveries wait, when none is left, and when a retry was planned. */
  readonly onChange: () => void
  readonly attempts: DeliveryAttempt.DeliveryAttempt
  readonly outcomes: DeliveryOutcomes["Service"]
  readonly budget: DeliveryBudget["Service"]
  readonly clock: Clock.Clock
  readonly run: (effect: Effect.Effect<void>) => void
}

/** One webhook's deliveries in memory: waiting to start, in flight, or with an outcome that is not written yet. */
export class InFlightDeliveries {
  readonly #dependencies: Dependencies
  readonly #ids = new Set<DeliveryId>()
  readonly #waiting = new FairQueue()
  #endpoint: DeliveryAttempt.Endpoint | undefined
  #limit = maxConcurrency
  #inFlight = 0
  #unwritten = 0
  #plannedRetries: Array<number> = []

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies
  }

  static readonly make = Effect.fnUntraced(function*(webhookId: WebhookId, onChange: () => void) {
    const attempts = yield* DeliveryAttempt.make
    const outcomes = yield* DeliveryOutcomes
    const budget = yield* DeliveryBudget
    const clock = yield* Clock.Clock
    const run = yield* FiberSet.makeRuntime<never, void, never>()
    return new InFlightDeliveries({ webhookId, onChange, attempts, outcomes, budget, clock, run })
  })

  get size(): number {
    return this.#ids.size
  }

  get ids(): ReadonlyArray<DeliveryId> {
    return [...this.#ids]
  }

  has(id: DeliveryId): boolean {
    return this.#ids.has(id)
  }

  /** Whether an attempt is in flight or its outcome is not written yet. */
  get isBusy(): boolean {
    return this.#inFlight + this.#unwritten > 0
  }

  /** Whether so many wait to start that `onChange` will be called when they become few. */
  get hasEnoughWaiting(): boolean {
    return this.#waiting.size > claimSize
  }

  /**
   * How many first attempts may be claimed now. It is all the room there is, but on a busy node the claim size, and on a
   * full node only as many as can start at once.
   */
  get claimable(): number {
    const { hasRoomFor } = this.#dependencies.budget
    if (!hasRoomFor(2 * claimSize)) return this.#startable
    if (this.#waiting.size > claimSize) return 0
    return hasRoomFor(16 * capacity) ? Math.max(0, capacity - this.#ids.size) : claimSize
  }

  /** How many retries may be claimed now. First attempts leave them this room, so that none waits for a backlog. */
  get claimableRetries(): number {
    if (!this.#dependencies.budget.hasRoomFor(2 * claimSize)) return this.#startable
    const { retries } = this.#waiting
    return retries > fewRetries ? 0 : claimSize - retries
  }

  /** On a full node only those are claimed that can start at once. */
  get #startable(): number {
    return this.#waiting.size === 0 ? maxConcurrency : 0
  }

  hasRoomFor(count: number): boolean {
    return count <= capacity - this.#ids.size && this.#dependencies.budget.hasRoomFor(count)
  }

  /** Adds deliveries, without those that are in memory already, and starts as many as may start. */
  add(deliveries: ReadonlyArray<ClaimedDelivery>): void {
    this.#waiting.push(deliveries.filter(({ id }) => this.#keep(id)))
    this.#start()
  }

  /** Sends to this endpoint from now on; with undefined, no attempt starts. */
  sendTo(endpoint: DeliveryAttempt.Endpoint | undefined): void {
    this.#endpoint = endpoint
    this.#start()
  }

  /** Forgets the deliveries that have not started and returns them, so that their claims can be released. */
  dropWaiting(): ReadonlyArray<ClaimedDelivery> {
    const dropped: Array<ClaimedDelivery> = []
    for (let delivery = this.#waiting.next(); delivery !== undefined; delivery = this.#waiting.next()) {
      this.#forget(delivery.id)
      dropped.push(delivery)
    }
    return dropped
  }

  /** When the retries planned since the last call are due, by the monotonic clock. */
  takePlannedRetries(): ReadonlyArray<number> {
    const planned = this.#plannedRetries
    this.#plannedRetries = []
    return planned
  }

  #keep(id: DeliveryId): boolean {
    if (this.#ids.has(id)) return false
    this.#ids.add(id)
    this.#dependencies.budget.count(1)
    return true
  }

  #forget(id: DeliveryId): void {
    if (this.#ids.delete(id)) this.#dependencies.budget.count(-1)
  }

  #start(): void {
    while (this.#inFlight < Math.floor(this.#limit)) {
      const next = this.#next()
      if (next === undefined) return
      this.#inFlight++
      this.#dependencies.run(this.#send(next.delivery, next.endpoint))
    }
  }

  #next() {
    const endpoint = this.#endpoint
    if (endpoint === undefined || this.#unwritten >= maxUnwritten) return undefined
    const delivery = this.#waiting.next()
    const { retries, size } = this.#waiting
    if (size === claimSize || size === 0 || retries === fewRetries) this.#dependencies.onChange()
    return delivery && { delivery, endpoint }
  }

  /** Sends one delivery after another in one place of the limit, which is free once the endpoint has answered. */
  #send(delivery: ClaimedDelivery, endpoint: DeliveryAttempt.Endpoint): Effect.Effect<void> {
    const { attempts, webhookId } = this.#dependencies
    return Effect.flatMap(attempts.attempt(webhookId, endpoint, delivery), (record) => {
      countAttempt(delivery, record)
      this.#limit = adjustLimit(this.#limit, record.transition.error === null)
      this.#record(record)
      const next = this.#inFlight <= this.#limit ? this.#next() : undefined
      if (next !== undefined) return this.#send(next.delivery, next.endpoint)
      this.#inFlight--
      return Effect.void
    })
  }

  #record(record: DeliveryAttempt.AttemptRecord): void {
    const { clock, onChange, outcomes, run } = this.#dependencies
    this.#unwritten++
    outcomes.record(record, (exit) => {
      this.#unwritten--
      const delay = record.transition.next_delay
      if (Exit.isSuccess(exit)) this.#forget(record.deliveryId)
      // Sent again at once, it would keep the endpoint busy. The sweeper finds its row after the pause.
      else run(Effect.delay(Effect.sync(() => this.#forget(record.deliveryId)), unwritableTimeout))
      if (delay !== undefined) this.#plannedRetries.push(millisOf(clock) + Duration.toMillis(delay))
      this.#start()
      if (delay !== undefined || !this.isBusy) onChange()
    })
  }
}
