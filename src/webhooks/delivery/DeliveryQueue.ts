import { Clock, Effect, Exit } from "effect"
import { millisOf } from "../../platform/schedule/monotonic.ts"
import type { WebhookId } from "../../values/Ids.ts"
import { RecoveryRepo } from "../recovery/RecoveryRepo.ts"
import { DeliveryBudget, type InFlightDeliveries } from "./InFlightDeliveries.ts"
import { type ClaimedDelivery, QueueRepo } from "./QueueRepo.ts"

/** The result of one claim. */
interface ClaimResult {
  readonly deliveries: ReadonlyArray<ClaimedDelivery>
  /** Whether more first attempts may wait than were claimed. */
  readonly isFull: boolean
}

/**
 * How far memory has caught up with the table. Only when memory holds everything that waits in the table may a new commit
 * follow it by local dispatch. So events keep their order, and none waits behind newer ones.
 */
class QueueCursor {
  readonly #inFlight: InFlightDeliveries
  #isCaughtUp = false
  /** Commits on this node during a claim, which may have missed them; undefined while no claim runs. */
  #meanwhile: Array<ClaimedDelivery> | undefined
  /** The newest delivery that was claimed from the table. */
  #newest = 0

  constructor(inFlight: InFlightDeliveries) {
    this.#inFlight = inFlight
  }

  get isCaughtUp(): boolean {
    return this.#isCaughtUp
  }

  fallBehind(): void {
    this.#isCaughtUp = false
  }

  dispatch(deliveries: ReadonlyArray<ClaimedDelivery>): void {
    if (this.#meanwhile !== undefined) this.#meanwhile.push(...deliveries)
    else if (this.#isCaughtUp) this.#follow(deliveries)
  }

  begin(): void {
    this.#meanwhile = []
    this.#isCaughtUp = true
  }

  /** Ends a claim; undefined when its result is unknown. */
  end(claim: ClaimResult | undefined): void {
    const late = this.#meanwhile ?? []
    this.#meanwhile = undefined
    this.#newest = Math.max(this.#newest, ...claim?.deliveries.map(({ id }) => id) ?? [])
    this.#inFlight.add(claim?.deliveries ?? [])
    if (claim === undefined || claim.isFull) this.#isCaughtUp = false
    else this.#follow(late)
  }

  /**
   * Moves committed deliveries into memory; without room they stay in the table. So do those that are not newer than the
   * newest claimed one: a claim may have found them before this node dispatched them, and they may have been sent since.
   */
  #follow(deliveries: ReadonlyArray<ClaimedDelivery>): void {
    const newer = deliveries.filter(({ id }) => id > this.#newest)
    if (this.#inFlight.hasRoomFor(newer.length)) this.#inFlight.add(newer)
    if (deliveries.some(({ id }) => !this.#inFlight.has(id))) this.#isCaughtUp = false
  }
}

/** When a webhook's next retry is due, by the monotonic clock. */
class NextRetry {
  #dueAt: number | undefined = 0
  #expectations = 0

  /** Undefined when none waits. */
  get dueAt(): number | undefined {
    return this.#dueAt
  }

  /** A retry is due at this moment. */
  plan(dueAt: number): void {
    this.#dueAt = Math.min(this.#dueAt ?? dueAt, dueAt)
  }

  /** A retry may be due that nothing here planned. */
  expect(): void {
    this.#dueAt = 0
    this.#expectations++
  }

  /**
   * Begins a read of the table. The result stores what the read found, unless a retry was expected meanwhile: the read may
   * have missed that one.
   */
  reading(): (dueAt: number | undefined) => void {
    const before = this.#expectations
    return (dueAt) => {
      if (this.#expectations === before) this.#dueAt = dueAt
    }
  }
}

/** Copies a body, because the client returns a view that keeps the 64 KiB it read in memory. */
const copyOf = (bytes: Uint8Array) => new Uint8Array(bytes)

/** One webhook's rows of the queue: claims them into memory, releases them, and knows when the next retry is due. */
export const make = Effect.fnUntraced(function*(webhookId: WebhookId, inFlight: InFlightDeliveries) {
  const { reserve, withQueryPermit } = yield* DeliveryBudget
  const queue = yield* QueueRepo
  const recoveries = yield* RecoveryRepo
  const clock = yield* Clock.Clock
  const cursor = new QueueCursor(inFlight)
  /** Whether rows may be claimed that are not in memory: by an earlier owner, or by a statement without an answer. */
  let mayHaveOrphans = true
  const retry = new NextRetry()
  /** Whether the total of the recovery is known whose events were queued last. */
  let isCounted = false

  const release = Effect.suspend(() =>
    Effect.map(withQueryPermit(queue.release(webhookId, inFlight.ids)), () => {
      mayHaveOrphans = false
    })
  )

  const claim = Effect.fnUntraced(function*(firstAttempts: number, retries: number) {
    // A statement whose answer gets lost may have claimed rows.
    mayHaveOrphans = true
    const statement = Effect.suspend(() => queue.claim({ webhookId, firstAttempts, retries, inMemory: inFlight.ids }))
    const rows = yield* reserve(firstAttempts + retries, withQueryPermit(statement))
    const expired = rows.filter(({ body }) => body === null)
    if (expired.length > 0) yield* queue.expire(webhookId, expired.map((row) => row.id))
    mayHaveOrphans = false
    return {
      deliveries: rows.flatMap(({ body, ...row }) => body === null ? [] : [{ ...row, body: copyOf(body) }]),
      isFull: rows.filter(({ attempt_count }) => attempt_count === 0).length === firstAttempts
    } satisfies ClaimResult
  })

  /** Claims first attempts as well, so commits on this node during the claim follow it. */
  const catchUp = (firstAttempts: number, retries: number) =>
    Effect.andThen(
      Effect.sync(() => cursor.begin()),
      Effect.onExit(claim(firstAttempts, retries), (exit) =>
        Effect.sync(() => cursor.end(Exit.isSuccess(exit) ? exit.value : undefined)))
    )

  const skipSome = Effect.suspend(() =>
    Effect.map(
      withQueryPermit(queue.skip({ webhookId, error: "webhook_unhealthy", inMemory: inFlight.ids })),
      ({ count }) => count > 0
    )
  )

  const nextRetry = () => {
    for (const dueAt of inFlight.takePlannedRetries()) retry.plan(dueAt)
    return retry.dueAt
  }

  /**
   * Queues the next events of the webhook's recovery as far as there is room, once memory has all that waits in the table. So
   * the endpoint sets the pace, and few recovered events are ahead of a new one. True when none are left to queue.
   */
  const recover = Effect.gen(function*() {
    const size = inFlight.claimable
    if (size === 0 || !cursor.isCaughtUp) return false
    if (!isCounted) yield* withQueryPermit(recoveries.countMore(webhookId))
    cursor.fallBehind()
    const { is_counted, is_queued } = yield* withQueryPermit(recoveries.advance({ webhookId, size }))
    isCounted = is_counted && is_queued === false
    return is_queued !== false
  })

  return {
    recover,
    /** Releases every claim that is not in memory. */
    release,
    /** Releases these claims, unless another owner has reclaimed them. */
    releaseClaims: (claimed: ReadonlyArray<ClaimedDelivery>) =>
      withQueryPermit(queue.releaseClaims(webhookId, claimed)),
    /** When the next retry is due, by the monotonic clock; undefined when none waits. */
    nextRetry,
    /** Claims due deliveries as far as there is room; false when there was nothing to claim. */
    claimDue: Effect.gen(function*() {
      if (mayHaveOrphans) yield* release
      const isRetryDue = (nextRetry() ?? Infinity) <= millisOf(clock)
      const retries = isRetryDue ? inFlight.claimableRetries : 0
      const firstAttempts = cursor.isCaughtUp ? 0 : inFlight.claimable
      if (firstAttempts + retries === 0) return false
      if (firstAttempts === 0) inFlight.add((yield* claim(0, retries)).deliveries)
      else yield* catchUp(firstAttempts, retries)
      if (retries === 0) return true
      const found = retry.reading()
      const { millis } = yield* withQueryPermit(queue.nextDue(webhookId))
      found(millis === null ? undefined : millisOf(clock) + Math.max(0, millis))
      return true
    }),
    /**
     * Ends without another attempt all deliveries that are not in memory. An attempt that ends meanwhile may leave a retry
     * behind, so the last pass is one that began with no attempt in flight, or one that ends with some still in flight.
     */
    skipAll: Effect.gen(function*() {
      for (let isLast = false; !isLast;) {
        const wasBusy = inFlight.isBusy
        cursor.fallBehind()
        yield* release
        while (yield* skipSome) continue
        isLast = !wasBusy || inFlight.isBusy
      }
    }),
    /** Accepts deliveries that this node has just committed, if memory has caught up with the table. */
    dispatch: (deliveries: ReadonlyArray<ClaimedDelivery>) => cursor.dispatch(deliveries),
    /** Whether memory holds every first attempt that waits in the table. */
    isCaughtUp: () => cursor.isCaughtUp,
    /** The table may hold first attempts that are not in memory. */
    fallBehind: () => cursor.fallBehind(),
    /** A retry may be due that this actor did not plan. */
    expectRetry: () => retry.expect(),
    /** Rows may be claimed that are not in memory. */
    expectOrphans: () => {
      mayHaveOrphans = true
      retry.expect()
    }
  }
})
