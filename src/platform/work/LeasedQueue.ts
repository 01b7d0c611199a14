/**
 * The worker of a queue that is a table. It claims due rows, performs them, and stores their outcomes. The rows are the
 * truth: a worker that dies loses nothing, and a policy decides whether its items are repeated.
 */
import { Duration, Effect, Exit, Latch, Semaphore } from "effect"
import { logRetry, retryWhileUnavailable } from "../database/unavailable.ts"
import { type Claim, Claims } from "./Claims.ts"
import { GracePeriod } from "./GracePeriod.ts"
import { PeriodicTask } from "./PeriodicTask.ts"
import type { Wakeup } from "./Wakeup.ts"
import type { Admission, Room, WorkPolicy } from "./WorkPolicy.ts"

/** Makes a wait interruptible inside an uninterruptible region. */
type Waiting = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

const pollInterval = 1_000

const renewInterval = Duration.seconds(1)

/** How long other items wait for the probe, unless it finishes first. */
const probeTime = 1_000

const pass: Effect.Effect<Admission> = Effect.succeed({ _tag: "Pass" })

/** Counts items in flight, by lane and by account. */
const makeInFlight = <Item, Outcome>(policy: WorkPolicy<Item, Outcome>) => {
  const { accountLimit, concurrency, minRoom = 1 } = policy
  const { limits, of: laneOf } = policy.lanes ?? { limits: [concurrency], of: () => 0 }
  const items = new Set<Item>()
  const empty = Latch.makeUnsafe(true)
  /** For each lane, how many items are in it or in a later one. */
  const lanes = limits.map(() => 0)
  const accounts = new Map<number, number>()
  const count = (item: Item, change: 1 | -1) => {
    for (let lane = laneOf(item); lane >= 0; lane--) lanes[lane] = (lanes[lane] ?? 0) + change
    if (accountLimit === undefined) return
    const account = accountLimit.of(item)
    const ofAccount = (accounts.get(account) ?? 0) + change
    if (ofAccount === 0) accounts.delete(account)
    else accounts.set(account, ofAccount)
  }
  const perAccount = accountLimit?.limit ?? concurrency
  const ofAccount = (account: number) => perAccount - (accounts.get(account) ?? 0)
  const room = (): Room<Item> => {
    const limit = concurrency - items.size
    return {
      limit,
      lanes: limits.map((most, lane) => Math.max(0, Math.min(limit, most - (lanes[lane] ?? 0)))),
      accountLimit: perAccount,
      ofAccount,
      inFlight: items
    }
  }
  const hasRoom = () => concurrency - items.size >= minRoom
  /** How many lanes have room; none without enough room in all. */
  const openLanes = () => hasRoom() ? room().lanes.filter((free) => free > 0).length : 0
  return {
    items,
    room,
    hasRoom,
    /** Ends when nothing is in flight. */
    drained: empty.await,
    add: (item: Item) => {
      items.add(item)
      count(item, 1)
      empty.closeUnsafe()
    },
    /** Whether this makes room where there was none: in the queue, in a lane, or for the item's account. */
    remove: (item: Item) => {
      const before = openLanes()
      const wasFull = accountLimit !== undefined && ofAccount(accountLimit.of(item)) <= 0
      items.delete(item)
      count(item, -1)
      if (items.size === 0) empty.openUnsafe()
      return openLanes() > before || (wasFull && hasRoom())
    }
  }
}

interface Worker<Item> {
  readonly claims: Claims<Item>
  readonly inFlight: ReturnType<typeof makeInFlight<Item, unknown>>
  readonly slots: Semaphore.Semaphore
  readonly wakeup: Wakeup
}

/** Begins and performs claimed items, and releases those that do not begin. */
const makeAttempts = <Item, Outcome>(
  policy: WorkPolicy<Item, Outcome>,
  { claims, inFlight, slots, wakeup }: Worker<Item>
) => {
  const { admission = pass, throttle = Effect.void } = policy

  /** Releases claims that have not begun. The caller that withdrew items releases these. */
  const release = (rest: ReadonlyArray<Claim<Item>>) =>
    Effect.suspend(() => {
      for (const claim of rest) claims.end(claim)
      const items = rest.filter(({ isWithdrawn }) => !isWithdrawn).map(({ item }) => item)
      return items.length === 0 ? Effect.void : retryWhileUnavailable(policy.release(items))
    })

  const attempt = (claim: Claim<Item>) =>
    Effect.flatMap(Effect.exit(Effect.interruptible(policy.perform(claim.item, claim))), (exit) => {
      if (Exit.isSuccess(exit)) return retryWhileUnavailable(policy.settle(claim.item, exit.value))
      // Only a withdrawal or a lost lease interrupts an attempt, before it has begun.
      return Exit.hasInterrupts(exit) ? release([claim]) : Effect.asVoid(exit)
    })

  const perform = (claim: Claim<Item>) =>
    attempt(claim).pipe(
      // The row stays claimed, and is reclaimed with one more attempt counted, so this ends.
      Effect.tapCause((cause) => Effect.logError(`storing an outcome of ${policy.name} failed`, cause)),
      Effect.annotateLogs(policy.annotations(claim.item)),
      Effect.ensuring(Effect.suspend(() => {
        claims.end(claim)
        if (inFlight.remove(claim.item) || policy.nextPoll !== undefined) wakeup.signalUnsafe()
        return slots.release(1)
      }))
    )

  /** Begins an item when there is a slot. False when its lease has expired by then, or nothing may begin. */
  const begin = Effect.fnUntraced(function*(claim: Claim<Item>, waiting: Waiting) {
    yield* waiting(Effect.andThen(throttle, slots.take(1)))
    if (!claim.isHeld() || (yield* admission)._tag === "Refused") {
      return yield* Effect.as(slots.release(1), claim.isWithdrawn)
    }
    inFlight.add(claim.item)
    // Detached: an attempt that has begun is finished and stored, also when this worker stops. A withdrawal interrupts the
    // attempt alone, so that its slot is freed.
    claim.fiber = yield* Effect.forkDetach(perform(claim), { uninterruptible: true })
    return true
  })

  /** Begins items in turn. Releases those that cannot begin, or that the worker does not reach before it stops. */
  const beginAll = (claimed: ReadonlyArray<Claim<Item>>, waiting: Waiting) => {
    let begun = 0
    const each = Effect.gen(function*() {
      for (const claim of claimed) {
        if (!claim.isWithdrawn && !(yield* begin(claim, waiting))) break
        begun += 1
      }
    })
    return Effect.ensuring(each, Effect.suspend(() => release(claimed.slice(begun))))
  }

  return beginAll
}

/**
 * Works on a queue until it is interrupted, or the policy ends it. Then it begins nothing more, and finishes the items in
 * flight while it renews their leases. `given` lets the caller withdraw items.
 */
const run = Effect.fnUntraced(function*<Item, Outcome>(
  policy: WorkPolicy<Item, Outcome>,
  wakeup: Wakeup,
  given?: Claims<Item>
) {
  const { admission = pass, claimSize, leaseTime, name, nextPoll, renewal } = policy
  const slots = yield* Semaphore.make(policy.concurrency)
  const inFlight = makeInFlight(policy)
  const claims = given ?? (yield* Claims.make<Item>())
  const grace = yield* GracePeriod.make
  const beginAll = makeAttempts(policy, { claims, inFlight, slots, wakeup })

  /**
   * Claims what there is room for and begins it. Answers with the least wait in milliseconds, or undefined to poll again
   * at once. Only the wait for a slot can be interrupted, so that no claim is forgotten.
   */
  const poll = Effect.uninterruptibleMask((restore) =>
    Effect.gen(function*() {
      const room = inFlight.room()
      const limit = claimSize ?? room.limit
      if (limit < 1) return 0
      const admitted = yield* admission
      if (admitted._tag === "Refused") return admitted.retryInMillis
      const isProbe = admitted._tag === "Probe"
      const claim = policy.claim(isProbe ? { ...room, limit: 1 } : { ...room, limit })
      const claimed = yield* claims.claim(claim, leaseTime)
      yield* beginAll(claimed, restore)
      if (claimed.length === 0) return 0
      if (isProbe) return probeTime
      // The policy knows whether more is due, so a second claim that finds nothing is saved.
      if (nextPoll !== undefined && claimed.length < limit) return 0
      return claimSize !== undefined || inFlight.hasRoom() ? undefined : 0
    })
  )

  /** False when the queue has ended. */
  const round = Effect.gen(function*() {
    const wait = yield* poll
    if (wait === undefined) return true
    const next = nextPoll === undefined ? pollInterval : yield* nextPoll(wait, inFlight.items)
    if (next !== undefined) yield* wakeup.wait(next)
    return next !== undefined
  }).pipe(
    grace.watch,
    Effect.catchCause((cause) =>
      logRetry(`polling for due ${name} failed`, cause).pipe(
        Effect.andThen(Effect.sleep(pollInterval)),
        Effect.as(true)
      )
    )
  )

  const renewAndReclaim = grace.watch(Effect.gen(function*() {
    // Without items, this asks whether the outage goes on.
    if (inFlight.items.size > 0 || !grace.isOver()) yield* claims.renew(renewal.renew([...inFlight.items]), leaseTime)
    if (renewal.reclaim === undefined || !grace.isOver()) return
    if ((yield* renewal.reclaim) > 0) wakeup.signalUnsafe()
  }))

  // Finalizers run in reverse: the worker drains first, and renews its leases until then.
  yield* Effect.forkScoped(PeriodicTask.repeat(`leases of ${name}`, renewInterval, renewAndReclaim))
  yield* Effect.addFinalizer(() => Effect.timeoutOption(inFlight.drained, policy.drainTimeout ?? Duration.infinity))
  yield* Effect.repeat(round, { while: (hasMore) => hasMore })
}, Effect.scoped)

export const LeasedQueue = { run }
