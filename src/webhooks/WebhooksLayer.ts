import { Effect, Layer } from "effect"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { QueueDatabase } from "../platform/database/Database.ts"
import { PublicHttp } from "../platform/net/PublicHttp.ts"
import { Allowance } from "./Allowance.ts"
import { Deliveries } from "./Deliveries.ts"
import { Handover } from "./Handover.ts"
import { Outcomes } from "./Outcomes.ts"
import { SubscriberLayer } from "./SubscriberLayer.ts"
import { Targets } from "./Targets.ts"
import { WebhookActor } from "./WebhookActor.ts"
import { WebhookAlarm } from "./WebhookAlarm.ts"
import { Webhooks } from "./Webhooks.ts"
import { WebhooksHttp } from "./WebhooksHttp.ts"
import { WebhookSweeper } from "./WebhookSweeper.ts"
import { WebhookUrlRules } from "./WebhookUrlRules.ts"

const Transport = Layer.unwrap(Effect.gen(function*() {
  const { webhookTimeoutSeconds } = yield* AppConfig
  const { allowLoopback } = yield* WebhookUrlRules
  return PublicHttp.layer({ allowLoopback, timeout: `${webhookTimeoutSeconds} seconds` })
}))

/** The actors with what they share on a node; needs what carries their requests. */
export const WebhookActors = Layer.mergeAll(WebhookSweeper, WebhookActor).pipe(
  Layer.provide(Outcomes.layer),
  Layer.provide(WebhookAlarm.layer),
  Layer.provide(Allowance.layer),
  Layer.provideMerge(Targets.layer),
  Layer.provide(QueueDatabase)
)

/** Webhooks with their endpoints and their actors; what events are told to. */
export const WebhooksLayer = WebhooksHttp.pipe(
  Layer.provide(Deliveries.layer),
  Layer.provide(WebhookActors),
  Layer.provide(Transport),
  Layer.provideMerge(SubscriberLayer),
  Layer.provide(Handover.layer),
  Layer.provideMerge(Webhooks.layer),
  Layer.provide(WebhookUrlRules.layer)
)
