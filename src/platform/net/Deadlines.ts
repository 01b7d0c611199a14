import { type Clock, Duration, Effect, Queue } from "effect"
import { millisOf } from "../schedule/monotonic.ts"
import { FifoQueue } from "../work/FifoQueue.ts"

interface Deadline {
  readonly at: number
  readonly expire: () => void
}

/**
 * Starts a deadline: calls `expire` after the time, unless the returned function cancels it first.
 */
export type StartDeadline = (expire: () => void) => () => void

/**
 * One timer for many operations with the same time limit: a fiber and a timer for each would cost more than the
 * operation. Deadlines expire in the order in which they start, so only the first one needs the timer.
 */
export const make = Effect.fnUntraced(function*(clock: Clock.Clock, limit: Duration.Duration) {
  const running = new FifoQueue<Deadline>()
  const started = yield* Queue.sliding<void>(1)
  const now = () => millisOf(clock)
  const millis = Duration.toMillis(limit)

  const awaitFirst = Effect.suspend(() => {
    const { first } = running
    if (first === undefined) return Queue.take(started)
    const left = first.at - now()
    if (left > 0) return clock.sleep(Duration.millis(Math.ceil(left)))
    running.dequeue()
    return Effect.sync(first.expire)
  })
  yield* Effect.forkScoped(Effect.forever(awaitFirst))

  const start: StartDeadline = (expire) => {
    const cancel = running.enqueue({ at: now() + millis, expire })
    if (running.size === 1) Queue.offerUnsafe(started, undefined)
    return cancel
  }
  return start
})
