import { Effect, Layer } from "effect"
import { compile, type CompiledPattern } from "../events/EventPattern.ts"
import { type Addressed, Subscriber } from "../events/Subscriber.ts"
import { afterCommit } from "../platform/database/transaction.ts"
import type { WebhookId } from "../values/Ids.ts"
import { Handover, type Recipient } from "./Handover.ts"
import { makeNudges } from "./makeNudges.ts"
import { makeQueueRepo, type Taken } from "./QueueRepo.ts"
import type { UnhealthyReason } from "./Webhook.ts"
import { makeWebhooksRepo } from "./WebhooksRepo.ts"
import type { SkipReason } from "./WebhookState.ts"

const refusalOf = (reason: UnhealthyReason): SkipReason =>
  reason === "backlog_full" ? "backlog_full" : "webhook_unhealthy"

/** Compiled once for each list: every event of an account asks for the patterns of its webhooks. */
const makeCompiler = () => {
  const known = new Map<string, CompiledPattern>()
  return (events: ReadonlyArray<string>): CompiledPattern => {
    const key = events.join()
    const pattern = known.get(key) ?? compile(events)
    if (known.size > 10_000) known.clear()
    known.set(key, pattern)
    return pattern
  }
}

interface Offer {
  readonly recipient: Recipient
  readonly ticket: number
}

/** Deliveries that were committed as taken, on their way to their actor. */
interface Batch {
  readonly webhookId: WebhookId
  readonly deliveries: ReadonlyArray<Taken>
}

/** Webhooks as the {@link Subscriber} of events. */
export const SubscriberLayer = Layer.effect(
  Subscriber,
  Effect.gen(function*() {
    const { wake } = yield* makeNudges
    const { recipients } = yield* Handover
    const webhooks = yield* makeWebhooksRepo
    const queue = yield* makeQueueRepo
    const compiled = makeCompiler()

    /** The actors that are awake here and would take all that is addressed to them. */
    const offersFor = (addressed: ReadonlyArray<Addressed>): ReadonlyMap<WebhookId, Offer> => {
      const counts = new Map<WebhookId, number>()
      for (const { subscription: { webhookId } } of addressed) counts.set(webhookId, (counts.get(webhookId) ?? 0) + 1)
      const offers = new Map<WebhookId, Offer>()
      for (const [webhookId, count] of counts) {
        const recipient = recipients.get(webhookId)
        const ticket = recipient?.ticket(count)
        if (recipient !== undefined && ticket !== undefined) offers.set(webhookId, { recipient, ticket })
      }
      return offers
    }

    /** The actors that are awake here are told at once, the others wherever they run. */
    const nudge = (ids: ReadonlySet<WebhookId>) =>
      Effect.suspend(() => {
        for (const id of ids) recipients.get(id)?.nudge()
        const elsewhere = [...ids].filter((id) => !recipients.has(id))
        return elsewhere.length === 0 ? Effect.void : wake(elsewhere)
      })

    const handOver = Effect.fnUntraced(function*(batches: ReadonlyArray<Batch>, offers: ReadonlyMap<WebhookId, Offer>) {
      for (const { deliveries, webhookId } of batches) {
        const offer = offers.get(webhookId)
        if (offer?.recipient.accept(offer.ticket, deliveries) === true) continue
        yield* Effect.ignoreCause(queue.release(webhookId, deliveries.map(({ id }) => id)))
        yield* nudge(new Set([webhookId]))
      }
    })

    const enqueue = Effect.fnUntraced(function*(addressed: ReadonlyArray<Addressed>) {
      const refused = addressed.flatMap(({ event, eventId, subscription: { refusal, webhookId } }) =>
        refusal === undefined ? [] : [{ webhookId, eventId, event, error: refusal }]
      )
      if (refused.length > 0) yield* queue.insertSkipped(refused)
      const sent = addressed.filter(({ subscription }) => subscription.refusal === undefined)
      if (sent.length === 0) return
      const offers = offersFor(sent)
      const born = yield* queue.insert(sent.map(({ event, eventId, subscription: { webhookId } }) => ({
        webhookId,
        eventId,
        event,
        status: offers.has(webhookId) ? "taken" : "pending"
      })))
      const byEvent = new Map<string, Addressed>(sent.map((one) => [one.eventId, one]))
      const batches = born.map(({ event_ids, ids, webhook_id }): Batch => ({
        webhookId: webhook_id,
        deliveries: ids.flatMap((id, index) => {
          const one = byEvent.get(event_ids[index] ?? "")
          if (one === undefined) return []
          const { body, event, eventId } = one
          return [{ id, event_id: eventId, event, body, attempt_count: 0, is_test: false, all_gone: true }]
        })
      }))
      const others = new Set(
        sent.flatMap(({ subscription: { webhookId } }) => offers.has(webhookId) ? [] : [webhookId])
      )
      if (batches.length > 0) yield* afterCommit(handOver(batches, offers))
      if (others.size > 0) yield* afterCommit(nudge(others))
    })

    return Subscriber.of({
      subscriptions: Effect.fnUntraced(function*(accountIds) {
        const rows = yield* Effect.orDie(webhooks.subscriptions(accountIds))
        return rows.map(({ account_id, events, id, unhealthy_reason }) => ({
          webhookId: id,
          accountId: account_id,
          pattern: compiled(events),
          refusal: unhealthy_reason === null ? undefined : refusalOf(unhealthy_reason)
        }))
      }),
      enqueue: (addressed) => Effect.orDie(enqueue(addressed))
    })
  })
)
