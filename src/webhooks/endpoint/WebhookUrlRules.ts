import { Context, Effect, Layer } from "effect"
import { AppConfig } from "../../platform/config/AppConfig.ts"

/** Which URLs a webhook may have: development, on the embedded database, may use this machine's own names. */
export class WebhookUrlRules extends Context.Service<WebhookUrlRules, {
  readonly allowLoopback: boolean
}>()("messaging-service/webhooks/endpoint/WebhookUrlRules") {
  static readonly layer = Layer.effect(
    WebhookUrlRules,
    Effect.map(
      AppConfig,
      ({ databaseUrl, webhookAllowLoopback }) =>
        WebhookUrlRules.of({ allowLoopback: webhookAllowLoopback ?? databaseUrl === undefined })
    )
  )
}
