import { type Clock, Duration, Effect, Queue } from "effect"

/**
 * What runs, in the order in which it began, as a ring. A Set that is added to and deleted from all the time leaves its
 * outgrown tables behind, and each leads to the next: once one is in V8's old space, all that they held stays there until
 * a full collection. A link that was taken out leads nowhere.
 */
class Link {
  earlier: Link = this
  later: Link = this
  readonly at: number
  readonly expire: () => void

  constructor(at: number, expire: () => void) {
    this.at = at
    this.expire = expire
  }

  get isAlone(): boolean {
    return this.later === this
  }

  putBefore(next: Link): void {
    this.earlier = next.earlier
    this.later = next
    this.earlier.later = this
    next.earlier = this
  }

  takeOut(): void {
    this.earlier.later = this.later
    this.later.earlier = this.earlier
    this.earlier = this
    this.later = this
  }
}

/**
 * One clock hand for all requests of a client, which all have the same time: a fiber and a timer for each would cost
 * more than the request. They expire in the order in which they began, so only the first is waited for.
 */
export const makeDeadlines = Effect.fnUntraced(function*(clock: Clock.Clock, within: Duration.Duration) {
  const ring = new Link(Infinity, () => {})
  const begun = yield* Queue.sliding<void>(1)
  const now = () => Number(clock.monotonicTimeNanosUnsafe()) / 1_000_000
  const millis = Duration.toMillis(within)

  const watch = Effect.suspend(() => {
    if (ring.isAlone) return Queue.take(begun)
    const first = ring.later
    const left = first.at - now()
    if (left > 0) return clock.sleep(Duration.millis(Math.ceil(left)))
    first.takeOut()
    return Effect.sync(first.expire)
  })
  yield* Effect.forkScoped(Effect.forever(watch))

  /** Calls `expire` when the time is over, unless the returned function was called before. */
  return (expire: () => void): () => void => {
    const deadline = new Link(now() + millis, expire)
    if (ring.isAlone) Queue.offerUnsafe(begun, undefined)
    deadline.putBefore(ring)
    return () => deadline.takeOut()
  }
})
