import { Effect, Layer } from "effect"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { Database } from "../platform/database/Database.ts"
import { PublicHttp } from "../platform/net/PublicHttp.ts"
import { DeliveryBudget } from "./delivery/DeliveryBudget.ts"
import { DeliveryOutcomes } from "./delivery/DeliveryOutcomes.ts"
import { SubscriberLayer } from "./delivery/EventSubscriber.ts"
import { LocalDispatch } from "./delivery/LocalDispatch.ts"
import { WebhookActor } from "./delivery/WebhookActor.ts"
import { WebhookSweeper } from "./delivery/WebhookSweeper.ts"
import { Targets } from "./endpoint/Targets.ts"
import { UnhealthyNotifier } from "./endpoint/UnhealthyNotifier.ts"
import { WebhookUrlRules } from "./endpoint/WebhookUrlRules.ts"
import { Deliveries } from "./history/Deliveries.ts"
import { Webhooks } from "./Webhooks.ts"
import { WebhooksHttp } from "./WebhooksHttp.ts"

const Transport = Layer.unwrap(Effect.gen(function*() {
  const { webhookTimeoutSeconds } = yield* AppConfig
  const { allowLoopback } = yield* WebhookUrlRules
  return PublicHttp.layer({ allowLoopback, timeout: `${webhookTimeoutSeconds} seconds` })
}))

/** The actors with what they share on a node; needs what carries their requests. */
export const WebhookActors = Layer.mergeAll(WebhookSweeper, WebhookActor).pipe(
  Layer.provide(DeliveryOutcomes.layer),
  Layer.provide(UnhealthyNotifier.layer),
  Layer.provide(DeliveryBudget.layer),
  Layer.provideMerge(Targets.layer),
  Database.onQueuePool
)

/** Webhooks with their endpoints and their actors; what events are told to. */
export const WebhooksLayer = WebhooksHttp.pipe(
  Layer.provide(Deliveries.layer),
  Layer.provide(WebhookActors),
  Layer.provide(Transport),
  Layer.provideMerge(SubscriberLayer),
  Layer.provide(LocalDispatch.layer),
  Layer.provideMerge(Webhooks.layer),
  Layer.provide(WebhookUrlRules.layer)
)
