import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { compile, type CompiledPattern } from "../../events/EventPattern.ts"
import { type Addressed, Subscriber } from "../../events/Events.ts"
import { column } from "../../platform/database/column.ts"
import { Database } from "../../platform/database/Database.ts"
import type { WebhookId } from "../../values/Ids.ts"
import type { UnhealthyReason } from "../endpoint/Webhook.ts"
import { WebhooksRepo } from "../endpoint/WebhooksRepo.ts"
import type { SkipReason } from "./DeliveryState.ts"
import { LocalDispatch } from "./LocalDispatch.ts"
import { type ClaimedDelivery, QueueRepo } from "./QueueRepo.ts"
import { WakeUps } from "./WakeUps.ts"

const skipReasonOf = (reason: UnhealthyReason): SkipReason =>
  reason === "backlog_full" ? "backlog_full" : "webhook_unhealthy"

/** Compiles each list of patterns once, because every event of an account is matched with the patterns of its webhooks. */
const cachingCompiler = () => {
  const known = new Map<string, CompiledPattern>()
  return (events: ReadonlyArray<string>): CompiledPattern => {
    const key = events.join()
    const pattern = known.get(key) ?? compile(events)
    if (known.size > 10_000) known.clear()
    known.set(key, pattern)
    return pattern
  }
}

/** The {@link Subscriber} of events that queues their deliveries to webhooks. */
export const EventSubscriber = Layer.effect(
  Subscriber,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const { afterCommit } = yield* Database
    const { wake } = yield* WakeUps.make
    const { actors } = yield* LocalDispatch
    const webhooks = yield* WebhooksRepo
    const queue = yield* QueueRepo
    const compiled = cachingCompiler()

    /** Dispatches deliveries to the actors that are awake on this node, and wakes the others. */
    const dispatch = (queued: ReadonlyMap<WebhookId, ReadonlyArray<ClaimedDelivery>>) =>
      Effect.suspend(() => {
        const elsewhere: Array<WebhookId> = []
        for (const [id, deliveries] of queued) {
          const actor = actors.get(id)
          if (actor === undefined) elsewhere.push(id)
          else actor.accept(deliveries)
        }
        return elsewhere.length === 0 ? Effect.void : wake(elsewhere)
      })

    const enqueue = Effect.fnUntraced(function*(addressed: ReadonlyArray<Addressed>) {
      const skipped = addressed.flatMap(({ event, eventId, subscription: { refusal, webhookId } }) =>
        refusal === undefined ? [] : [{ webhookId, eventId, event, error: refusal }]
      )
      const sent = addressed.filter(({ subscription }) => subscription.refusal === undefined)
      const skippedIds = skipped.length === 0 ? [] : yield* queue.insertSkipped(skipped)
      const ids = sent.length === 0 ? [] : yield* queue.insert(
        sent.map(({ event, eventId, subscription: { webhookId } }) => ({ webhookId, eventId, event }))
      )
      const queued = new Map<WebhookId, Array<ClaimedDelivery>>()
      for (const [index, { body, event, eventId, subscription: { webhookId } }] of sent.entries()) {
        const delivery = {
          event_id: eventId,
          event,
          body,
          attempt_count: 0,
          claimed_at: null,
          is_test: false,
          all_gone: true
        } as const
        const deliveries = queued.get(webhookId) ?? []
        queued.set(webhookId, deliveries)
        const id = ids[index]
        if (id !== undefined) deliveries.push({ id, ...delivery })
      }
      if (queued.size > 0) yield* afterCommit(dispatch(queued))
      const [nextSkipped, nextSent] = [skippedIds.values(), ids.values()]
      return addressed.flatMap(({ subscription: { refusal } }) => {
        const { value } = (refusal === undefined ? nextSent : nextSkipped).next()
        return value === undefined ? [] : [value]
      })
    })

    return Subscriber.of({
      subscriptions: Effect.fnUntraced(function*(accountIds) {
        const rows = yield* webhooks.subscriptions(accountIds)
        return rows.map(({ account_id, channels, events, id, now, tags, unhealthy_reason }) => ({
          webhookId: id,
          accountId: account_id,
          pattern: compiled(events),
          filter: { channels, tags },
          refusal: unhealthy_reason === null ? undefined : skipReasonOf(unhealthy_reason),
          now
        }))
      }),
      enqueue,
      isSubscribed: (account, patterns) =>
        sql`exists (select from webhooks w where w.account_id = ${account} and w.is_active
          and w.events && ${column.text(patterns)}::text[])`
    })
  })
).pipe(Layer.provide([WebhooksRepo.layer, QueueRepo.layer]))
