import { Clock, Context, Effect, Layer } from "effect"

/** Milliseconds for which a node throttles its batches after its last work on a single email. */
export const slowdownWindow = 250

/** Milliseconds between two recipients that a throttled node starts: at most 200 a second. */
export const interval = 5

/** Monotonic: setting the machine's clock back must not delay batches. */
const now = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1_000_000)

/**
 * Throttles the batches of one node while it sends single emails, to keep their latency low (docs/decisions/0033). It
 * limits how often a recipient starts, not how many are in flight: with a slow relay the connections are the limit, and
 * batches lose nothing.
 */
export class BulkThrottle extends Context.Service<BulkThrottle, {
  /** Notes that this node works on a single email now. */
  readonly noteSingleEmail: Effect.Effect<void>
  /** Waits until one more recipient of a batch may start. Recipients of all batches share one first-in, first-out order. */
  readonly acquire: Effect.Effect<void>
}>()("messaging-service/channels/email/recipients/BulkThrottle") {
  static readonly layer = Layer.sync(BulkThrottle, () => {
    let slowUntil = 0
    let nextStart = 0
    return BulkThrottle.of({
      noteSingleEmail: Effect.map(now, (at) => {
        slowUntil = at + slowdownWindow
      }),
      acquire: Effect.flatMap(now, (at) => {
        if (at >= slowUntil) return Effect.void
        const start = Math.max(at, nextStart)
        nextStart = start + interval
        return start > at ? Effect.sleep(start - at) : Effect.void
      })
    })
  })
}
