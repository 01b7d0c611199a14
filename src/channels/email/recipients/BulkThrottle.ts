import { Clock, Context, Effect, Layer } from "effect"

/** Milliseconds for which a node keeps its batches slow after it last had to do with a single email. */
export const courtesy = 250

/** Milliseconds between two recipients of batches that a node begins meanwhile: at most 200 a second. */
export const interval = 5

/** Monotonic: a machine's clock that is set back would hold up batches for as long. */
const now = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1_000_000)

/**
 * How fast batches go on one node: as fast as they can, and slower while somebody sends single emails over the same
 * node, so that these find its processor and the database at leisure (docs/decisions/0033). It bounds how often a
 * recipient is begun and not how many are under way: with a relay that is slow to answer the connections are the bound,
 * and a batch loses nothing.
 */
export class BulkThrottle extends Context.Service<BulkThrottle, {
  /** Says that this node has to do with a single email now. */
  readonly yieldToSingle: Effect.Effect<void>
  /** Ends when one more recipient of a batch may be begun; in the order in which they ask, whatever batch they are of. */
  readonly turn: Effect.Effect<void>
}>()("messaging-service/channels/email/recipients/BulkThrottle") {
  static readonly layer = Layer.sync(BulkThrottle, () => {
    let slowUntil = 0
    let nextTurn = 0
    return BulkThrottle.of({
      yieldToSingle: Effect.map(now, (at) => {
        slowUntil = at + courtesy
      }),
      turn: Effect.flatMap(now, (at) => {
        if (at >= slowUntil) return Effect.void
        const turn = Math.max(at, nextTurn)
        nextTurn = turn + interval
        return turn > at ? Effect.sleep(turn - at) : Effect.void
      })
    })
  })
}
