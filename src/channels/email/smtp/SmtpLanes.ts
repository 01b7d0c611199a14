import { Effect } from "effect"
import { FifoQueue } from "../../../platform/net/FifoQueue.ts"
import type { SmtpLane } from "./Smtp.ts"
import type { RelayUnavailable } from "./SmtpErrors.ts"

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

interface Waiter {
  granted: boolean
  resume: (effect: Effect.Effect<void, RelayUnavailable>) => void
}

/**
 * Permits for connections, first come, first served inside a lane. Singles go before bulk mail, and bulk mail may never
 * use the last `reserved` permits, so that a single finds a connection while batches run at full speed. With a limit of
 * one nothing is reserved: a single then waits for at most one message in flight.
 */
export class SmtpLanes {
  readonly #reserved: number
  #limit: number
  #bulkInUse = 0
  #inUse = 0
  #granting = false
  #closed: RelayUnavailable | undefined
  readonly #waiting: Record<SmtpLane, FifoQueue<Waiter>> = { single: new FifoQueue(), bulk: new FifoQueue() }
  readonly #idleChecks = new Set<() => void>()

  constructor(limit: number, reserved: number) {
    this.#limit = limit
    this.#reserved = reserved
  }

  /** Changes the number of permits; those above a lower limit end when they are released. */
  resize(limit: number): void {
    this.#limit = Math.max(1, limit)
    this.#grantWaiting()
  }

  /** Runs the effect with a permit of the lane. */
  withPermit<A, E, R>(lane: SmtpLane, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | RelayUnavailable, R> {
    return Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(
        this.#acquire(lane, restore),
        () => Effect.ensuring(restore(effect), Effect.sync(() => this.#release(lane)))
      )
    )
  }

  /** Refuses all waiting and later requests; permits in use stay valid. */
  close(reason: RelayUnavailable): void {
    this.#closed = reason
    for (const lane of [this.#waiting.single, this.#waiting.bulk]) {
      for (let waiter = lane.dequeue(); waiter !== undefined; waiter = lane.dequeue()) {
        waiter.resume(Effect.fail(reason))
      }
    }
  }

  /** Completes as soon as no permit is in use. */
  readonly idle: Effect.Effect<void> = Effect.callback((resume) => {
    const check = () => {
      if (this.#inUse > 0) return
      this.#idleChecks.delete(check)
      resume(Effect.void)
    }
    this.#idleChecks.add(check)
    check()
    return Effect.sync(() => this.#idleChecks.delete(check))
  })

  #acquire(lane: SmtpLane, restore: Restore): Effect.Effect<void, RelayUnavailable> {
    return Effect.suspend(() => {
      if (this.#closed !== undefined) return Effect.fail(this.#closed)
      if (this.#waiting[lane].size > 0 || !this.#hasFree(lane)) return this.#wait(lane, restore)
      this.#count(lane, 1)
      return Effect.void
    })
  }

  #wait(lane: SmtpLane, restore: Restore): Effect.Effect<void, RelayUnavailable> {
    const waiter: Waiter = { granted: false, resume: () => {} }
    const waiting = Effect.callback<void, RelayUnavailable>((resume) => {
      waiter.resume = resume
      return Effect.sync(this.#waiting[lane].enqueue(waiter))
    })
    // An interruption can meet a permit that was just granted: without the release it would be lost.
    return Effect.onInterrupt(restore(waiting), () => Effect.sync(() => waiter.granted && this.#release(lane)))
  }

  #hasFree(lane: SmtpLane): boolean {
    return this.#inUse < this.#limit &&
      (lane === "single" || this.#bulkInUse < Math.max(1, this.#limit - this.#reserved))
  }

  #count(lane: SmtpLane, change: 1 | -1): void {
    this.#inUse += change
    if (lane === "bulk") this.#bulkInUse += change
  }

  #release(lane: SmtpLane): void {
    this.#count(lane, -1)
    this.#grantWaiting()
    for (const check of this.#idleChecks) check()
  }

  // A resumed fiber runs at once, inside this call, and may release its permit before it returns. The flag turns a
  // recursion as deep as the queue into another iteration of the loop.
  #grantWaiting(): void {
    if (this.#granting) return
    this.#granting = true
    while (this.#grantNext("single") || this.#grantNext("bulk"));
    this.#granting = false
  }

  #grantNext(lane: SmtpLane): boolean {
    const waiter = this.#hasFree(lane) ? this.#waiting[lane].dequeue() : undefined
    if (waiter === undefined) return false
    waiter.granted = true
    this.#count(lane, 1)
    waiter.resume(Effect.void)
    return true
  }
}
