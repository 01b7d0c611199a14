/**
 * The worker of a queue that is a table. It claims due rows, performs them, and stores their outcomes. The rows are the
 * truth: a worker that dies loses nothing, and a policy decides whether its items are repeated.
 */
import { type Cause, Clock, Duration, Effect, Latch, Semaphore } from "effect"
import { isDatabaseUnavailable, retryWhileUnavailable } from "../database/unavailable.ts"
import { PeriodicTask } from "./PeriodicTask.ts"
import type { Wakeup } from "./Wakeup.ts"
import type { Admission, Lease, Room, WorkPolicy } from "./WorkPolicy.ts"

/** Makes a wait interruptible inside an uninterruptible region. */
type Waiting = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

const pollInterval = 1_000

const renewInterval = Duration.seconds(1)

/** How long other items wait for the probe, unless it finishes first. */
const probeTime = 1_000

const pass: Effect.Effect<Admission> = Effect.succeed({ _tag: "Pass" })

/** An unavailable database is expected: the worker tries again. */
const logFailure = (message: string) => (cause: Cause.Cause<unknown>) =>
  isDatabaseUnavailable(cause) ? Effect.logDebug(message, cause) : Effect.logError(message, cause)

/** Counts items in flight, by lane. */
const makeInFlight = <Item, Outcome>({ bulkLane, concurrency, minRoom = 1 }: WorkPolicy<Item, Outcome>) => {
  const items = new Set<Item>()
  const empty = Latch.makeUnsafe(true)
  let bulk = 0
  const count = (item: Item, change: 1 | -1) => {
    if (bulkLane?.includes(item) === true) bulk += change
  }
  const room = (): Room<Item> => ({
    limit: concurrency - items.size,
    bulkLimit: Math.max(0, (bulkLane?.concurrency ?? concurrency) - bulk),
    inFlight: items
  })
  const hasRoom = () => concurrency - items.size >= minRoom
  /** 0 without enough room, 1 with room but not in the bulk lane, 2 with room in both lanes. */
  const openLanes = () => !hasRoom() ? 0 : room().bulkLimit < 1 ? 1 : 2
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
    /** Whether this opened a lane that was full. */
    remove: (item: Item) => {
      const before = openLanes()
      items.delete(item)
      count(item, -1)
      if (items.size === 0) empty.openUnsafe()
      return openLanes() > before
    }
  }
}

/**
 * Works on a queue until it is interrupted, or the policy ends it. Then it begins nothing more, and finishes the items in
 * flight while it renews their leases.
 */
const run = Effect.fnUntraced(function*<Item, Outcome>(policy: WorkPolicy<Item, Outcome>, wakeup: Wakeup) {
  const { admission = pass, claimSize, lease, name, nextPoll, throttle = Effect.void } = policy
  const beginWithin = Duration.toMillis(policy.beginWithin ?? Duration.infinity)
  const slots = yield* Semaphore.make(policy.concurrency)
  const inFlight = makeInFlight(policy)

  const perform = Effect.fnUntraced(function*(item: Item) {
    const outcome = yield* policy.perform(item)
    yield* retryWhileUnavailable(policy.settle(item, outcome))
  }, (effect, item) =>
    effect.pipe(
      // The row stays claimed, and is reclaimed with one more attempt counted, so this ends.
      Effect.tapCause((cause) => Effect.logError(`storing an outcome of ${name} failed`, cause)),
      Effect.annotateLogs(policy.annotations(item)),
      Effect.ensuring(Effect.suspend(() => {
        if (inFlight.remove(item) || nextPoll !== undefined) wakeup.signalUnsafe()
        return slots.release(1)
      }))
    ))

  /** Begins an item when there is a slot; false when its claim is too old by then, or nothing may begin. */
  const begin = Effect.fnUntraced(function*(item: Item, deadline: number, waiting: Waiting) {
    yield* waiting(Effect.andThen(throttle, slots.take(1)))
    const isLate = (yield* Clock.currentTimeMillis) > deadline
    if (isLate || (yield* admission)._tag === "Refused") return yield* Effect.as(slots.release(1), false)
    inFlight.add(item)
    // Detached: an attempt that has begun is finished and stored, also when this worker stops.
    yield* Effect.forkDetach(perform(item))
    return true
  })

  /** Begins items in turn. Releases those that cannot begin, or that the worker does not reach before it stops. */
  const beginAll = (items: ReadonlyArray<Item>, deadline: number, waiting: Waiting) => {
    let begun = 0
    const each = Effect.gen(function*() {
      for (const item of items) {
        if (!(yield* begin(item, deadline, waiting))) break
        begun += 1
      }
    })
    const releaseRest = Effect.suspend(() =>
      begun < items.length ? retryWhileUnavailable(policy.release(items.slice(begun))) : Effect.void
    )
    return Effect.ensuring(each, releaseRest)
  }

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
      const deadline = (yield* Clock.currentTimeMillis) + beginWithin
      const claimed = yield* policy.claim({ ...room, limit: isProbe ? 1 : limit })
      yield* beginAll(claimed, deadline, restore)
      if (claimed.length === 0) return 0
      if (isProbe) return probeTime
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
    Effect.catchCause((cause) =>
      logFailure(`polling for due ${name} failed`)(cause).pipe(
        Effect.andThen(Effect.sleep(pollInterval)),
        Effect.as(true)
      )
    )
  )

  const renewAndReclaim = ({ reclaim, renew }: Lease<Item>) =>
    Effect.gen(function*() {
      if (inFlight.items.size > 0) yield* renew([...inFlight.items])
      if ((yield* reclaim) > 0) wakeup.signalUnsafe()
    })

  // Finalizers run in reverse: the worker drains first, and renews its leases until then.
  yield* lease === undefined
    ? Effect.void
    : Effect.forkScoped(PeriodicTask.repeat(`leases of ${name}`, renewInterval, renewAndReclaim(lease)))
  yield* Effect.addFinalizer(() => Effect.timeoutOption(inFlight.drained, policy.drainTimeout ?? Duration.infinity))
  yield* Effect.repeat(round, { while: (hasMore) => hasMore })
}, Effect.scoped)

export const LeasedQueue = { run }
