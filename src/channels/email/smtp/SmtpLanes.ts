import { Effect } from "effect"
import { TurnQueue } from "../../../platform/work/TurnQueue.ts"
import type { AccountId } from "../../../values/Ids.ts"
import type { SmtpLane, SmtpMail } from "./Smtp.ts"
import type { RelayUnavailable } from "./SmtpErrors.ts"

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** What decides about a permit. */
type Sender = Pick<SmtpMail, "priority" | "account">

interface Waiter extends Sender {
  granted: boolean
  resume: (effect: Effect.Effect<void, RelayUnavailable>) => void
}

const lanes: Readonly<Record<SmtpLane, number>> = { urgent: 0, single: 1, bulk: 2 }

/**
 * Permits for connections. Urgent mail goes before singles, singles go before bulk mail, and in a lane accounts take turns
 * (see {@link TurnQueue}). From three connections on, one is kept for urgent mail, and bulk mail leaves `reserved` more to
 * singles. The singles of one account leave a connection to those of others, whom its slow mail must not delay. With a
 * limit of one nothing is reserved: a mail then waits for the message in flight.
 */
export class SmtpLanes {
  readonly #reserved: number
  #limit: number
  #inUse = 0
  #notUrgent = 0
  #bulk = 0
  /** The permits for singles of each account. */
  readonly #singles = new Map<AccountId | null, number>()
  #granting = false
  #closed: RelayUnavailable | undefined
  readonly #waiting = new TurnQueue<AccountId | null, Waiter>(3)
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

  /** Runs the effect with a permit. */
  withPermit<A, E, R>(sender: Sender, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | RelayUnavailable, R> {
    return Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(
        this.#acquire(sender, restore),
        () => Effect.ensuring(restore(effect), Effect.sync(() => this.#release(sender)))
      )
    )
  }

  /** Refuses all waiting and later requests; permits in use stay valid. */
  close(reason: RelayUnavailable): void {
    this.#closed = reason
    for (let waiter = this.#waiting.dequeue(); waiter !== undefined; waiter = this.#waiting.dequeue()) {
      waiter.resume(Effect.fail(reason))
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

  // While permits are being granted, a newcomer must not go before those that wait.
  #acquire(sender: Sender, restore: Restore): Effect.Effect<void, RelayUnavailable> {
    return Effect.suspend(() => {
      if (this.#closed !== undefined) return Effect.fail(this.#closed)
      if (this.#granting || !this.#hasFree(lanes[sender.priority], sender.account)) return this.#wait(sender, restore)
      this.#count(sender, 1)
      return Effect.void
    })
  }

  #wait(sender: Sender, restore: Restore): Effect.Effect<void, RelayUnavailable> {
    const waiter: Waiter = { priority: sender.priority, account: sender.account, granted: false, resume: () => {} }
    const waiting = Effect.callback<void, RelayUnavailable>((resume) => {
      waiter.resume = resume
      return Effect.sync(this.#waiting.enqueue(lanes[sender.priority], sender.account, waiter))
    })
    // An interruption can meet a permit that was just granted: without the release it would be lost.
    return Effect.onInterrupt(restore(waiting), () => Effect.sync(() => waiter.granted && this.#release(sender)))
  }

  readonly #hasFree = (lane: number, account: AccountId | null): boolean => {
    if (this.#inUse >= this.#limit) return false
    if (lane === lanes.urgent) return true
    const others = this.#limit < 3 ? this.#limit : this.#limit - 1
    if (this.#notUrgent >= others) return false
    return lane === lanes.bulk
      ? this.#bulk < Math.max(1, others - this.#reserved)
      : (this.#singles.get(account) ?? 0) < Math.max(2, others - 1)
  }

  #count({ account, priority }: Sender, change: 1 | -1): void {
    this.#inUse += change
    if (priority === "urgent") return
    this.#notUrgent += change
    if (priority === "bulk") {
      this.#bulk += change
      return
    }
    const ofAccount = (this.#singles.get(account) ?? 0) + change
    if (ofAccount === 0) this.#singles.delete(account)
    else this.#singles.set(account, ofAccount)
  }

  #release(sender: Sender): void {
    this.#count(sender, -1)
    this.#grantWaiting()
    for (const check of this.#idleChecks) check()
  }

  // A resumed fiber runs at once, inside this call, and may release its permit before it returns. The flag turns a
  // recursion as deep as the queue into another iteration of the loop.
  #grantWaiting(): void {
    if (this.#granting) return
    this.#granting = true
    while (this.#grantNext());
    this.#granting = false
  }

  #grantNext(): boolean {
    const waiter = this.#inUse < this.#limit ? this.#waiting.dequeue(this.#hasFree) : undefined
    if (waiter === undefined) return false
    waiter.granted = true
    this.#count(waiter, 1)
    waiter.resume(Effect.void)
    return true
  }
}
