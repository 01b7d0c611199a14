import { Clock, Effect } from "effect"
import type { WebhookId } from "../values/Ids.ts"
import type { DeliverySlots } from "./DeliverySlots.ts"
import { makeTaker } from "./makeTaker.ts"
import type { Taken } from "./QueueRepo.ts"

/** What an actor knows of the rows of its webhook that are not in its hands. */
export const makeClaims = Effect.fnUntraced(function*(id: WebhookId, slots: DeliverySlots) {
  const { doubt, giveBack, giveBackDoubtful, nextDue, skip, take } = yield* makeTaker(id, slots)
  const clock = yield* Clock.Clock
  /** Whether all that waits in the table is in memory as well: only then may what is committed follow it there. */
  let caughtUp = false
  /** What was committed here during a look at the table, which may have missed it; undefined while nobody looks. */
  let meanwhile: Array<Taken> | undefined
  /** When the next retry is due, in Unix milliseconds; undefined when none waits. */
  let retryAt: number | undefined = 0

  /** What came past the table is in memory from now on; without room it stays where it is. */
  const follow = (deliveries: ReadonlyArray<Taken>) => {
    if (slots.hasRoomFor(deliveries.length)) slots.add(deliveries)
    else caughtUp = false
  }

  /** Takes first attempts, and has what is committed meanwhile follow them when no more than they waited. */
  const catchUp = Effect.fnUntraced(function*(most: number, retries: number) {
    const late: Array<Taken> = []
    meanwhile = late
    caughtUp = true
    const fresh = yield* Effect.onExit(take(most, retries), (exit) =>
      Effect.sync(() => {
        meanwhile = undefined
        if (exit._tag === "Failure") caughtUp = false
      }))
    if (fresh === most) caughtUp = false
    else follow(late)
  })

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
        caughtUp = false
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
      if (most === 0 || (!due && caughtUp)) return false
      const retries = due ? most : 0
      yield* caughtUp ? take(0, retries) : catchUp(most, retries)
      if (!due) return true
      const millis = yield* nextDue
      retryAt = millis === null ? undefined : clock.currentTimeMillisUnsafe() + Math.max(0, millis)
      return true
    }),
    /** Deliveries that were just committed: they go to memory where they follow all that is in the table. */
    handOver: (deliveries: ReadonlyArray<Taken>) => {
      if (meanwhile !== undefined) meanwhile.push(...deliveries)
      else if (caughtUp) follow(deliveries)
    },
    caughtUp: () => caughtUp,
    fallBehind: () => {
      caughtUp = false
    },
    /** A retry may be due of which nothing is known here. */
    look: () => {
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
