import { type Clock, Duration, Effect, Queue } from "effect"
import { Line } from "./FifoQueue.ts"

interface Deadline {
  readonly at: number
  readonly expire: () => void
}

/**
 * One clock hand for all requests of a client, which all have the same time: a fiber and a timer for each would cost
 * more than the request. They expire in the order in which they began, so only the first is waited for.
 */
export const makeDeadlines = Effect.fnUntraced(function*(clock: Clock.Clock, within: Duration.Duration) {
  const running = new Line<Deadline>()
  const begun = yield* Queue.sliding<void>(1)
  const now = () => Number(clock.monotonicTimeNanosUnsafe()) / 1_000_000
  const millis = Duration.toMillis(within)

  const watch = Effect.suspend(() => {
    const { first } = running
    if (first === undefined) return Queue.take(begun)
    const left = first.at - now()
    if (left > 0) return clock.sleep(Duration.millis(Math.ceil(left)))
    running.next()
    return Effect.sync(first.expire)
  })
  yield* Effect.forkScoped(Effect.forever(watch))

  /** Calls `expire` when the time is over, unless the returned function was called before. */
  return (expire: () => void): () => void => {
    const forget = running.join({ at: now() + millis, expire })
    if (running.size === 1) Queue.offerUnsafe(begun, undefined)
    return forget
  }
})
