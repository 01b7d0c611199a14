import { Clock, Effect, Exit } from "effect"
import type { WebhookId } from "../../values/Ids.ts"
import { makeTaker } from "./claimDeliveries.ts"
import type { InFlightDeliveries } from "./InFlightDeliveries.ts"
import { QueueCursor } from "./QueueCursor.ts"
import type { Taken } from "./QueueRepo.ts"

/** What an actor knows of the rows of its webhook that are not in its hands. */
export const makeClaims = Effect.fnUntraced(function*(id: WebhookId, slots: InFlightDeliveries) {
  const { doubt, giveBack, giveBackDoubtful, nextDue, skip, take } = yield* makeTaker(id, slots)
  const clock = yield* Clock.Clock
  const catchUp = new QueueCursor(slots)
  /** When the next retry is due, in Unix milliseconds; undefined when none waits. */
  let retryAt: number | undefined = 0

  /** Takes first attempts as well, and has what is committed meanwhile follow them. */
  const look = (most: number, retries: number) =>
    Effect.andThen(
      Effect.sync(() => catchUp.begin()),
      Effect.onExit(take(most, retries), (exit) =>
        Effect.sync(() => catchUp.end(Exit.isSuccess(exit) ? exit.value : undefined)))
    )

  const nextRetry = () => {
    for (const due of slots.takePlanned()) retryAt = Math.min(retryAt ?? due, due)
    return retryAt
  }

  return {
    giveBack,
    nextRetry,
    /**
     * Ends what nobody has in hand without another attempt. An attempt that ends meanwhile leaves a retry behind, so the
     * last look is one that began when nothing was under way, or one that finds something under way still.
     */
    skipAll: Effect.gen(function*() {
      for (let isLast = false; !isLast;) {
        const wasBusy = slots.isBusy
        catchUp.fallBehind()
        yield* giveBack
        while (yield* skip) continue
        isLast = !wasBusy || slots.isBusy
      }
    }),
    /** Takes what is due as far as there is room; false when there was nothing to look for. */
    take: Effect.gen(function*() {
      yield* giveBackDoubtful
      const retry = nextRetry()
      const due = retry !== undefined && retry <= clock.currentTimeMillisUnsafe()
      const most = slots.wanted(due ? 2 : 1)
      if (most === 0 || (!due && catchUp.isDone)) return false
      const retries = due ? most : 0
      if (catchUp.isDone) slots.add((yield* take(0, retries)).deliveries)
      else yield* look(most, retries)
      if (!due) return true
      const millis = yield* nextDue
      retryAt = millis === null ? undefined : clock.currentTimeMillisUnsafe() + Math.max(0, millis)
      return true
    }),
    handOver: (deliveries: ReadonlyArray<Taken>) => catchUp.handOver(deliveries),
    caughtUp: () => catchUp.isDone,
    fallBehind: () => catchUp.fallBehind(),
    /** A retry may be due of which nothing is known here. */
    mayBeDue: () => {
      retryAt = 0
    },
    /** Rows may be taken that are in nobody's hands. */
    doubt: () => {
      doubt()
      retryAt = 0
    }
  }
})

export type Claims = Effect.Success<ReturnType<typeof makeClaims>>
