import { Context, Effect, Layer, Option } from "effect"
import { Notices } from "../../accounts/Notices.ts"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import type { WebhookId } from "../../values/Ids.ts"
import { unhealthyNotice } from "./unhealthyNotice.ts"
import type { UnhealthyReason } from "./Webhook.ts"
import { makeWebhooksRepo } from "./WebhooksRepo.ts"

/** Tells the owner of a webhook that it has turned unhealthy, by mail and never through webhooks. */
export class UnhealthyNotifier extends Context.Service<UnhealthyNotifier, {
  /** In the transaction that made it so: after a crash the state and its mail are both there or neither is. */
  readonly raise: (fallen: { readonly id: WebhookId; readonly reason: UnhealthyReason }) => Effect.Effect<void>
}>()("messaging-service/webhooks/endpoint/UnhealthyNotifier") {
  // A transaction belongs to one pool. The notices that the rest of the node shares are on the pool of requests and would
  // be written past the transaction of those who raise alarms; these are on the pool that the alarm itself is given.
  static readonly layer = Layer.effect(
    UnhealthyNotifier,
    Effect.gen(function*() {
      const limits = yield* AppConfig
      const { tell } = yield* Notices
      const webhooks = yield* makeWebhooksRepo

      return UnhealthyNotifier.of({
        raise: Effect.fn("UnhealthyNotifier.raise")(function*({ id, reason }) {
          yield* Effect.annotateLogs(Effect.logWarning("a webhook is unhealthy"), { webhook: id, reason })
          const row = yield* Effect.orDie(webhooks.fallen(id))
          if (Option.isNone(row)) return
          const { account_id: accountId, ...state } = row.value
          // One mail a day for each webhook and reason, however often it falls and recovers.
          yield* tell({
            accountId,
            kind: "webhook_unhealthy",
            once: `${id} ${reason}`,
            ...unhealthyNotice({ id, reason, ...state }, limits)
          })
        })
      })
    })
  ).pipe(Layer.provide(Layer.fresh(Notices.layer)))
}
