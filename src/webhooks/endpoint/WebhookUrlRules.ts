import { Context, Effect, Layer } from "effect"
import { AppConfig } from "../../platform/config/AppConfig.ts"

/** The URLs that a webhook may have. In development, loopback addresses are allowed. */
export class WebhookUrlRules extends Context.Service<WebhookUrlRules, {
  readonly allowLoopback: boolean
}>()("messaging-service/webhooks/endpoint/WebhookUrlRules") {
  static readonly layer = Layer.effect(
    WebhookUrlRules,
    Effect.map(
      AppConfig,
      ({ webhookAllowLoopback: allowLoopback }) => WebhookUrlRules.of({ allowLoopback })
    )
  )
}
