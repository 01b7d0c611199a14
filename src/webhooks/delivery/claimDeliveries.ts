import { Effect } from "effect"
import type { WebhookId } from "../../values/Ids.ts"
import { DeliveryBudget } from "./DeliveryBudget.ts"
import type { InFlightDeliveries } from "./InFlightDeliveries.ts"
import { makeQueueRepo } from "./QueueRepo.ts"

/** What the client gives is a view of the 64 KiB that it read, which would stay in memory for a few hundred bytes. */
const copyOf = (bytes: Uint8Array) => new Uint8Array(bytes)

/** Takes the rows of a webhook for its actor, and gives back what is in nobody's hands. */
export const makeTaker = Effect.fnUntraced(function*(id: WebhookId, slots: InFlightDeliveries) {
  const { expecting, inTurn } = yield* DeliveryBudget
  const queue = yield* makeQueueRepo
  /** Whether rows may be taken that are in nobody's hands: an owner before this one, an answer that got lost. */
  let doubtful = true

  const giveBack = Effect.suspend(() =>
    Effect.map(inTurn(queue.giveBack(id, slots.held.ids)), () => {
      doubtful = false
    })
  )

  return {
    giveBack,
    giveBackDoubtful: Effect.suspend(() => doubtful ? giveBack : Effect.void),
    doubt: () => {
      doubtful = true
    },
    /** Takes first attempts and retries that are due, at most so many of each. */
    take: Effect.fnUntraced(function*(fresh: number, retries: number) {
      // A statement whose answer gets lost has taken rows that nobody knows of.
      doubtful = true
      const ask = Effect.suspend(() => queue.take({ webhookId: id, fresh, retries, held: slots.held.ids }))
      const rows = yield* expecting(fresh + retries, inTurn(ask))
      const expired = rows.filter(({ body }) => body === null)
      if (expired.length > 0) yield* queue.expire(id, expired.map((row) => row.id))
      doubtful = false
      return {
        deliveries: rows.flatMap(({ body, ...row }) => body === null ? [] : [{ ...row, body: copyOf(body) }]),
        /** Whether more first attempts may wait than were taken. */
        isFull: rows.filter(({ attempt_count }) => attempt_count === 0).length === fresh
      }
    }),
    /** Ends what waits without another attempt, but for what is in hand; false when nothing did. */
    skip: Effect.suspend(() =>
      Effect.map(
        inTurn(queue.skip({ webhookId: id, error: "webhook_unhealthy", held: slots.held.ids })),
        ({ count }) => count > 0
      )
    ),
    /** Milliseconds until the next retry is due; null when none waits. */
    nextDue: Effect.map(inTurn(queue.nextDue(id)), ({ millis }) => millis)
  }
})
