import { Context, Effect, Layer, Option } from "effect"
import { NotFound } from "../platform/http/ApiErrors.ts"
import type { AccountId, DeliveryId, WebhookId } from "../values/Ids.ts"
import type { PageOf } from "../values/Page.ts"
import { makeDeliveriesRepo } from "./DeliveriesRepo.ts"
import type { DeliveryDetail, DeliverySummary } from "./Webhook.ts"
import { makeWebhooksRepo } from "./WebhooksRepo.ts"
import type { DeliveryStatus } from "./WebhookState.ts"

export interface DeliveryFilter {
  readonly status?: DeliveryStatus | undefined
  readonly event?: string | undefined
}

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("utf8")

/** The history of what a webhook was sent (spec 4.5). */
export class Deliveries extends Context.Service<Deliveries, {
  /** Newest first. */
  readonly list: (
    webhook: { readonly accountId: AccountId; readonly id: WebhookId },
    filter: DeliveryFilter,
    window: { readonly limit: number; readonly offset: number }
  ) => Effect.Effect<PageOf<DeliverySummary>, NotFound>
  /** One delivery with its payload and its attempts. */
  readonly find: (
    webhook: { readonly accountId: AccountId; readonly id: WebhookId },
    id: DeliveryId
  ) => Effect.Effect<DeliveryDetail, NotFound>
}>()("messaging-service/webhooks/Deliveries") {
  static readonly layer = Layer.effect(
    Deliveries,
    Effect.gen(function*() {
      const webhooks = yield* makeWebhooksRepo
      const repo = yield* makeDeliveriesRepo

      const owned = Effect.fnUntraced(function*(webhook: { readonly accountId: AccountId; readonly id: WebhookId }) {
        if (Option.isNone(yield* Effect.orDie(webhooks.find(webhook)))) return yield* new NotFound()
      })

      return Deliveries.of({
        list: Effect.fn("Deliveries.list")(function*(webhook, { event, status }, window) {
          yield* owned(webhook)
          const filter = { webhookId: webhook.id, status: status ?? null, event: event ?? null, ...window }
          const rows = yield* Effect.orDie(repo.list(filter))
          return { rows, total: (yield* Effect.orDie(repo.count(filter))).total }
        }),
        find: Effect.fn("Deliveries.find")(function*(webhook, id) {
          yield* owned(webhook)
          const found = yield* Effect.orDie(repo.find({ webhookId: webhook.id, id }))
          if (Option.isNone(found)) return yield* new NotFound()
          const { body, ...delivery } = found.value
          const attempts = yield* Effect.orDie(repo.attempts(id))
          return {
            ...delivery,
            payload: body === null ? null : JSON.parse(text(body)),
            attempts: attempts.map((attempt) => ({
              ...attempt,
              response_body: attempt.response_body === null ? null : text(attempt.response_body)
            }))
          }
        })
      })
    })
  )
}
