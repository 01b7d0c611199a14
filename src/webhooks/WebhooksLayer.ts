import { Effect, Layer } from "effect"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { Database } from "../platform/database/Database.ts"
import { PublicHttp } from "../platform/net/PublicHttp.ts"
import { DeliveryBudget } from "./delivery/DeliveryBudget.ts"
import { DeliveryOutcomes } from "./delivery/DeliveryOutcomes.ts"
import { EventSubscriber } from "./delivery/EventSubscriber.ts"
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

/** The webhook actors and the services that they share on a node. They need a `PublicHttp`. */
export const WebhookActors = Layer.mergeAll(WebhookSweeper, WebhookActor).pipe(
  Layer.provide(DeliveryOutcomes.layer),
  Layer.provide(UnhealthyNotifier.layer),
  Layer.provide(DeliveryBudget.layer),
  Layer.provideMerge(Targets.layer),
  Database.onQueuePool
)

/** The webhooks API, its actors, and the subscriber of events. */
export const WebhooksLayer = WebhooksHttp.pipe(
  Layer.provide(Deliveries.layer),
  Layer.provide(WebhookActors),
  Layer.provide(Transport),
  Layer.provideMerge(EventSubscriber),
  Layer.provide(LocalDispatch.layer),
  Layer.provideMerge(Webhooks.layer),
  Layer.provide(WebhookUrlRules.layer)
)
