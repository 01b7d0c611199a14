import { Effect } from "effect"
import { Line } from "../../../platform/net/FifoQueue.ts"
import type { SmtpLane } from "./Smtp.ts"
import type { RelayUnavailable } from "./SmtpErrors.ts"

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

interface Waiter {
  granted: boolean
  resume: (effect: Effect.Effect<void, RelayUnavailable>) => void
}

/**
 * Permits for connections, handed out first come first served inside a lane. Singles go before bulk, and bulk may
 * never hold the last `reserved` permits, so that a single finds a connection while batches run at full speed. With a
 * limit of one there is nothing to reserve: a single then waits for at most the one message in flight.
 */
export class SmtpLanes {
  readonly #reserved: number
  #limit: number
  #bulk = 0
  #held = 0
  #pumping = false
  #closed: RelayUnavailable | undefined
  readonly #waiting: Record<SmtpLane, Line<Waiter>> = { single: new Line(), bulk: new Line() }
  readonly #watchers = new Set<() => void>()

  constructor(limit: number, reserved: number) {
    this.#limit = limit
    this.#reserved = reserved
  }

  /** Changes how many permits there are; those above the new limit end when they come back. */
  resize(limit: number): void {
    this.#limit = Math.max(1, limit)
    this.#pump()
  }

  /** Runs the effect while holding a permit of the lane. */
  withPermit<A, E, R>(lane: SmtpLane, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | RelayUnavailable, R> {
    return Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(
        this.#take(lane, restore),
        () => Effect.ensuring(restore(effect), Effect.sync(() => this.#release(lane)))
      )
    )
  }

  /** Refuses everybody who waits or comes from now on; permits that are out stay valid. */
  close(reason: RelayUnavailable): void {
    this.#closed = reason
    for (const lane of [this.#waiting.single, this.#waiting.bulk]) {
      for (let waiter = lane.next(); waiter !== undefined; waiter = lane.next()) waiter.resume(Effect.fail(reason))
    }
  }

  /** Completes as soon as no permit is held. */
  readonly idle: Effect.Effect<void> = Effect.callback((resume) => {
    const look = () => {
      if (this.#held > 0) return
      this.#watchers.delete(look)
      resume(Effect.void)
    }
    this.#watchers.add(look)
    look()
    return Effect.sync(() => this.#watchers.delete(look))
  })

  #take(lane: SmtpLane, restore: Restore): Effect.Effect<void, RelayUnavailable> {
    return Effect.suspend(() => {
      if (this.#closed !== undefined) return Effect.fail(this.#closed)
      if (this.#waiting[lane].size > 0 || !this.#free(lane)) return this.#wait(lane, restore)
      this.#count(lane, 1)
      return Effect.void
    })
  }

  #wait(lane: SmtpLane, restore: Restore): Effect.Effect<void, RelayUnavailable> {
    const waiter: Waiter = { granted: false, resume: () => {} }
    const waiting = Effect.callback<void, RelayUnavailable>((resume) => {
      waiter.resume = resume
      return Effect.sync(this.#waiting[lane].join(waiter))
    })
    // An interruption that meets a permit on its way must not keep it.
    return Effect.onInterrupt(restore(waiting), () => Effect.sync(() => waiter.granted && this.#release(lane)))
  }

  #free(lane: SmtpLane): boolean {
    return this.#held < this.#limit &&
      (lane === "single" || this.#bulk < Math.max(1, this.#limit - this.#reserved))
  }

  #count(lane: SmtpLane, change: 1 | -1): void {
    this.#held += change
    if (lane === "bulk") this.#bulk += change
  }

  #release(lane: SmtpLane): void {
    this.#count(lane, -1)
    this.#pump()
    for (const look of this.#watchers) look()
  }

  // A resumed fiber runs at once, inside this call, and may release its permit again before it returns: the flag turns
  // what would be a recursion as deep as the queue into another turn of the loop.
  #pump(): void {
    if (this.#pumping) return
    this.#pumping = true
    while (this.#grant("single") || this.#grant("bulk"));
    this.#pumping = false
  }

  #grant(lane: SmtpLane): boolean {
    const waiter = this.#free(lane) ? this.#waiting[lane].next() : undefined
    if (waiter === undefined) return false
    waiter.granted = true
    this.#count(lane, 1)
    waiter.resume(Effect.void)
    return true
  }
}
