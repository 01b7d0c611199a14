import { Effect, Layer } from "effect"
import { checkBounceSettings } from "../../channels/email/reports/BounceListener.ts"
import { DefaultSender, NoticeAddress } from "../../channels/email/request/DefaultSender.ts"
import { SmsHttpProfile } from "../../channels/sms/providers/HttpProfile.ts"
import { SmppCarrier } from "../../channels/sms/smpp/SmppCarrier.ts"
import { runnerPlace } from "../../platform/cluster/RunnerSockets.ts"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { WrongSettings } from "../../platform/config/Setting.ts"
import { upstreams } from "../../platform/config/Upstreams.ts"
import { writtenKey } from "../../platform/crypto/MainKey.ts"
import { databaseConnection } from "../../platform/database/DatabaseUrl.ts"
import { mustBeFree } from "../../platform/net/Listening.ts"
import { metricsPlace } from "../../platform/observability/Telemetry.ts"
import { httpPlace } from "./HttpServer.ts"

/** Why an effect fails; undefined if it succeeds. */
const reasonOf = <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.match(effect, { onSuccess: () => undefined, onFailure: ({ message }) => message })

const reasonOfLayer = <A, E extends { readonly message: string }, R>(layer: Layer.Layer<A, E, R>) =>
  reasonOf(Effect.scoped(Layer.build(layer)))

/** Fails with all reasons why this start cannot succeed, before it prepares the database, which takes seconds. */
export const checkStart = Effect.gen(function*() {
  const config = yield* AppConfig
  const { databaseUrl, runnerHost, runnerPort, smsProvider = "sandbox" } = config
  const metrics = metricsPlace(config)
  const found = yield* Effect.all([
    reasonOf(upstreams),
    reasonOf(writtenKey),
    reasonOf(databaseUrl === undefined ? Effect.void : databaseConnection(databaseUrl)),
    reasonOfLayer(DefaultSender.layer),
    reasonOfLayer(NoticeAddress.layer),
    smsProvider === "smpp"
      ? reasonOfLayer(SmppCarrier.layer)
      : reasonOfLayer(smsProvider === "http" ? SmsHttpProfile.layer : Layer.empty),
    reasonOf(checkBounceSettings),
    reasonOf(mustBeFree(httpPlace(config))),
    reasonOf(mustBeFree(runnerPlace({ host: runnerHost, port: runnerPort }))),
    reasonOf(metrics === undefined ? Effect.void : mustBeFree(metrics))
  ])
  const reasons = [...new Set(found.filter((reason) => reason !== undefined))]
  if (reasons.length > 0) return yield* new WrongSettings({ reasons })
})
