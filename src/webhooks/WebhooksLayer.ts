import { Effect, Layer } from "effect"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { PublicHttp } from "../platform/net/PublicHttp.ts"
import { Deliveries } from "./Deliveries.ts"
import { Outcomes } from "./Outcomes.ts"
import { SubscriberLayer } from "./SubscriberLayer.ts"
import { WebhookActor } from "./WebhookActor.ts"
import { Webhooks } from "./Webhooks.ts"
import { WebhooksHttp } from "./WebhooksHttp.ts"
import { WebhookSweeper } from "./WebhookSweeper.ts"
import { WebhookUrlRules } from "./WebhookUrlRules.ts"

const Transport = Layer.unwrap(Effect.gen(function*() {
  const { webhookTimeoutSeconds } = yield* AppConfig
  const { allowLoopback } = yield* WebhookUrlRules
  return PublicHttp.layer({ allowLoopback, timeout: `${webhookTimeoutSeconds} seconds` })
}))

/** Webhooks with their endpoints and their actors; what events are told to. */
export const WebhooksLayer = Layer.mergeAll(
  WebhooksHttp,
  WebhookSweeper,
  WebhookActor.pipe(Layer.provide(Outcomes.layer))
).pipe(
  Layer.provide(Transport),
  Layer.provide(Deliveries.layer),
  Layer.provideMerge(SubscriberLayer),
  Layer.provideMerge(Webhooks.layer),
  Layer.provide(WebhookUrlRules.layer)
)
