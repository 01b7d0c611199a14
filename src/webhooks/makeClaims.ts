import { Clock, Effect } from "effect"
import type { WebhookId } from "../values/Ids.ts"
import { Allowance } from "./Allowance.ts"
import type { DeliverySlots } from "./DeliverySlots.ts"
import { makeQueueRepo } from "./QueueRepo.ts"

/** What the client gives is a view of the 64 KiB that it read, which would stay in memory for a few hundred bytes. */
const copyOf = (bytes: Uint8Array) => new Uint8Array(bytes)

/** What an actor knows of the rows of its webhook that are not in its hands. */
export const makeClaims = Effect.fnUntraced(function*(id: WebhookId, slots: DeliverySlots) {
  const { expecting, inTurn } = yield* Allowance
  const queue = yield* makeQueueRepo
  const clock = yield* Clock.Clock
  /** Whether rows may be taken that are in nobody's hands: an owner before this one, an answer that got lost. */
  let doubtful = true
  /** Whether every first attempt that waited was taken: only then may new ones come past the table. */
  let caughtUp = false
  let ticket = 0
  /** When the next retry is due, in Unix milliseconds; undefined when none waits. */
  let retryAt: number | undefined = 0

  const giveBack = Effect.suspend(() => {
    ticket++
    return Effect.map(inTurn(queue.giveBack(id, slots.held.ids)), () => {
      doubtful = false
    })
  })

  /** A statement whose answer gets lost has taken rows that nobody knows of. */
  const takeRows = Effect.fnUntraced(function*(fresh: number, retries: number) {
    doubtful = true
    const rows = yield* expecting(fresh + retries, inTurn(queue.take({ webhookId: id, fresh, retries })))
    doubtful = false
    slots.add(rows.flatMap(({ body, ...row }) => body === null ? [] : [{ ...row, body: copyOf(body) }]))
    const expired = rows.filter(({ body }) => body === null)
    if (expired.length > 0) yield* queue.expire(id, expired.map((row) => row.id))
    return rows
  })

  const takeDue = Effect.fnUntraced(function*(most: number, due: boolean, nudged: () => boolean) {
    const rows = yield* takeRows(caughtUp ? 0 : most, due ? most : 0)
    if (!nudged() && rows.filter(({ attempt_count }) => attempt_count === 0).length < most) caughtUp = true
    if (!due) return
    const { millis } = yield* inTurn(queue.nextDue(id))
    retryAt = millis === null ? undefined : clock.currentTimeMillisUnsafe() + Math.max(0, millis)
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
        while ((yield* inTurn(queue.skip({ webhookId: id, error: "webhook_unhealthy" }))).count > 0) continue
        isLast = !wasBusy || slots.isBusy
      }
    }),
    /** Takes what is due as far as there is room; false when there was nothing to look for. */
    take: Effect.fnUntraced(function*(nudged: () => boolean) {
      if (doubtful) yield* giveBack
      const retry = nextRetry()
      const due = retry !== undefined && retry <= clock.currentTimeMillisUnsafe()
      const most = slots.wanted
      if (most === 0 || (!due && caughtUp)) return false
      yield* takeDue(most, due, nudged)
      return true
    }),
    caughtUp: () => caughtUp,
    /** Void as soon as rows may have been given back that were on their way here. */
    ticket: () => caughtUp && !doubtful ? ticket : undefined,
    fallBehind: () => {
      caughtUp = false
    },
    /** A retry may be due of which nothing is known here. */
    look: () => {
      retryAt = 0
    },
    doubt: () => {
      doubtful = true
      retryAt = 0
    }
  }
})

export type Claims = Effect.Success<ReturnType<typeof makeClaims>>
