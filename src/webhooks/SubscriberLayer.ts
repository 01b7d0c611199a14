import { Effect, Layer } from "effect"
import { compile } from "../events/EventPattern.ts"
import { Subscriber } from "../events/Subscriber.ts"
import { afterCommit } from "../platform/database/transaction.ts"
import { makeDeliveriesRepo } from "./DeliveriesRepo.ts"
import { Webhooks } from "./Webhooks.ts"
import { makeWebhooksRepo } from "./WebhooksRepo.ts"

/** Webhooks as the {@link Subscriber} of events. */
export const SubscriberLayer = Layer.effect(
  Subscriber,
  Effect.gen(function*() {
    const webhooks = yield* Webhooks
    const repo = yield* makeWebhooksRepo
    const deliveries = yield* makeDeliveriesRepo
    return Subscriber.of({
      subscriptions: Effect.fnUntraced(function*(accountIds) {
        const rows = yield* Effect.orDie(repo.subscriptions(accountIds))
        return rows.map(({ account_id, events, id }) => ({
          webhookId: id,
          accountId: account_id,
          pattern: compile(events)
        }))
      }),
      enqueue: Effect.fnUntraced(function*(addressed) {
        yield* Effect.orDie(deliveries.insert(addressed))
        yield* afterCommit(webhooks.wake([...new Set(addressed.map(({ webhookId }) => webhookId))]))
      })
    })
  })
)
