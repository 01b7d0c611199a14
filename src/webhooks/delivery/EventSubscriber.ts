import { Effect, Layer } from "effect"
import { compile, type CompiledPattern } from "../../events/EventPattern.ts"
import { type Addressed, Subscriber } from "../../events/Subscriber.ts"
import { afterCommit } from "../../platform/database/transaction.ts"
import type { WebhookId } from "../../values/Ids.ts"
import type { UnhealthyReason } from "../endpoint/Webhook.ts"
import { makeWebhooksRepo } from "../endpoint/WebhooksRepo.ts"
import type { SkipReason } from "./DeliveryState.ts"
import { LocalDispatch } from "./LocalDispatch.ts"
import { makeQueueRepo, type Taken } from "./QueueRepo.ts"
import { makeNudges } from "./WakeUps.ts"

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

/** Webhooks as the {@link Subscriber} of events. */
export const SubscriberLayer = Layer.effect(
  Subscriber,
  Effect.gen(function*() {
    const { wake } = yield* makeNudges
    const { recipients } = yield* LocalDispatch
    const webhooks = yield* makeWebhooksRepo
    const queue = yield* makeQueueRepo
    const compiled = makeCompiler()

    /** The actors that are awake here are given their deliveries, the others are woken wherever they run. */
    const handOver = (queued: ReadonlyMap<WebhookId, ReadonlyArray<Taken>>) =>
      Effect.suspend(() => {
        const elsewhere: Array<WebhookId> = []
        for (const [id, deliveries] of queued) {
          const recipient = recipients.get(id)
          if (recipient === undefined) elsewhere.push(id)
          else recipient.accept(deliveries)
        }
        return elsewhere.length === 0 ? Effect.void : wake(elsewhere)
      })

    const enqueue = Effect.fnUntraced(function*(addressed: ReadonlyArray<Addressed>) {
      const refused = addressed.flatMap(({ event, eventId, subscription: { refusal, webhookId } }) =>
        refusal === undefined ? [] : [{ webhookId, eventId, event, error: refusal }]
      )
      if (refused.length > 0) yield* queue.insertSkipped(refused)
      const sent = addressed.filter(({ subscription }) => subscription.refusal === undefined)
      if (sent.length === 0) return
      const rows = sent.map(({ event, eventId, subscription: { webhookId } }) => ({ webhookId, eventId, event }))
      const ids = yield* queue.insert(rows)
      const queued = new Map<WebhookId, Array<Taken>>()
      for (const [index, { body, event, eventId, subscription: { webhookId } }] of sent.entries()) {
        const delivery = { event_id: eventId, event, body, attempt_count: 0, is_test: false, all_gone: true }
        const deliveries = queued.get(webhookId) ?? []
        queued.set(webhookId, deliveries)
        const id = ids[index]
        if (id !== undefined) deliveries.push({ id, ...delivery })
      }
      yield* afterCommit(handOver(queued))
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
