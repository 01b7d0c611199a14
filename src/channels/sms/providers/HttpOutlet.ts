import { Effect, Layer } from "effect"
import { AppConfig } from "../../../platform/config/AppConfig.ts"
import { PublicHttp } from "../../../platform/net/PublicHttp.ts"
import { SmsOutlet } from "../parts/SmsOutlet.ts"
import { CallbackHttp } from "./CallbackHttp.ts"
import { HttpSmsProvider, SmsHttpProfile } from "./HttpSmsProvider.ts"

/** Out to the internet alone, and to this machine where development may. */
const Transport = Layer.unwrap(
  Effect.map(
    AppConfig,
    ({ databaseUrl, webhookAllowLoopback }) =>
      PublicHttp.layer({ allowLoopback: webhookAllowLoopback ?? databaseUrl === undefined, timeout: "20 seconds" })
  )
)

/** The aggregator of SMS_HTTP_PROFILE, with the route of its receipts. */
export const HttpOutlet = Layer.merge(
  SmsOutlet.layerProvider.pipe(Layer.provide(HttpSmsProvider), Layer.provide(Transport)),
  CallbackHttp
).pipe(Layer.provide(SmsHttpProfile.layer))
