import { Context, Effect, FiberSet, Layer } from "effect"
import { monotonicMillis } from "../../../platform/schedule/monotonic.ts"
import { TurnQueue } from "../../../platform/work/TurnQueue.ts"
import type { AccountId } from "../../../values/Ids.ts"

/** Milliseconds for which a node throttles its batches after its last work on a single email. */
export const slowdownWindow = 250

/** Milliseconds between two recipients that a throttled node starts: at most 200 a second. */
export const interval = 5

/** Which accounts' batches are throttled. */
const makeWindows = () => {
  const ownUntil = new Map<AccountId, number>()
  let allUntil = 0
  let nextForAll = 0
  return {
    open: (account: AccountId, at: number) => {
      for (const [other, until] of ownUntil) if (until <= at) ownUntil.delete(other)
      ownUntil.set(account, at + slowdownWindow)
      if (at < nextForAll) return
      allUntil = at + slowdownWindow
      nextForAll = allUntil + slowdownWindow
    },
    isOpen: (account: AccountId, at: number) => at < Math.max(allUntil, ownUntil.get(account) ?? 0)
  }
}

/**
 * Throttles the batches of one node while it sends single emails, to keep their latency low (docs/decisions/0033). It
 * limits how often a recipient starts, not how many are in flight: with a slow relay the connections are the limit, and
 * batches lose nothing. An account's single emails throttle its own batches as long as they last, and those of other
 * accounts for at most half of the time.
 */
export class BulkThrottle extends Context.Service<BulkThrottle, {
  /** Notes that this node works on a single email now, one that was accepted. */
  readonly noteSingleEmail: (account: AccountId) => Effect.Effect<void>
  /** Waits until one more recipient of a batch of this account may start. Accounts take turns. */
  readonly acquire: (account: AccountId) => Effect.Effect<void>
}>()("messaging-service/channels/email/recipients/BulkThrottle") {
  static readonly layer = Layer.effect(
    BulkThrottle,
    Effect.gen(function*() {
      const run = yield* FiberSet.makeRuntime<never>()
      const windows = makeWindows()
      const waiting = new TurnQueue<AccountId, () => void>(1)
      let nextStart = 0

      /** Waits for one of the reserved starts. Who gets this one is decided when its time comes. */
      const awaitTurn = (account: AccountId, millis: number) =>
        Effect.callback<void>((resume) => {
          const remove = waiting.enqueue(0, account, () => resume(Effect.void))
          run(Effect.andThen(Effect.sleep(millis), Effect.sync(() => waiting.dequeue()?.())))
          return Effect.sync(remove)
        })

      return BulkThrottle.of({
        noteSingleEmail: (account) => Effect.map(monotonicMillis, (at) => windows.open(account, at)),
        acquire: (account) =>
          Effect.flatMap(monotonicMillis, (at) => {
            if (!windows.isOpen(account, at)) return Effect.void
            const start = Math.max(at, nextStart)
            nextStart = start + interval
            return start > at ? awaitTurn(account, start - at) : Effect.void
          })
      })
    })
  )
}
