import * as NodeServices from "@effect/platform-node/NodeServices"
import { Data, Effect, Layer, Redacted, Schema } from "effect"
import { SmsHttpProfile } from "../../channels/sms/providers/HttpProfile.ts"
import { SmppCarrier } from "../../channels/sms/smpp/SmppCarrier.ts"
import * as SmppSession from "../../channels/sms/smpp/SmppSession.ts"
import { liveUrl } from "../../channels/whatsapp/baileys/BaileysSocket.ts"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { upstreamOf } from "../../platform/config/Upstreams.ts"
import { webSocketAnswers } from "../../platform/net/webSocketAnswers.ts"

/** A result that passes, and that the operator should know. */
export class Notable extends Data.Class<{ readonly text: string }> {}

/** The result of a channel in the sandbox: in production a warning. */
export const inSandbox = (text: string) =>
  Effect.map(AppConfig, ({ mode }) => mode === "production" ? new Notable({ text }) : text)

/** No server answers at the address, or not like WhatsApp. */
class WhatsAppUnreachable extends Schema.TaggedError<WhatsAppUnreachable>()("WhatsAppUnreachable", {
  where: Schema.String,
  why: Schema.String
}) {
  override get message() {
    return `${this.where} cannot be reached: ${this.why}.`
  }
}

/** The carrier refused the bind. */
class BindRefused extends Schema.TaggedError<BindRefused>()("BindRefused", { why: Schema.String }) {
  override get message() {
    return `The carrier in SMPP_URL refuses the bind: ${this.why}. If it allows only one bind, a running node may hold it.`
  }
}

/** The origin of WhatsApp's own pages. Other servers ignore it. */
const webOrigin = "https://web.whatsapp.com"

/** Whether sessions can connect. It only opens the WebSocket, so no number is at risk. */
export const whatsappCheck = Effect.gen(function*() {
  const whatsappUrl = yield* upstreamOf("WHATSAPP_URL", (config) => config.whatsappUrl)
  if (whatsappUrl === "sandbox") {
    return yield* inSandbox("the sandbox simulates WhatsApp, and its messages reach no recipient")
  }
  const url = whatsappUrl === "live" ? new URL(liveUrl) : Redacted.value(whatsappUrl)
  const where = whatsappUrl === "live" ? "WhatsApp" : "the server in WHATSAPP_URL"
  return yield* webSocketAnswers(url, webOrigin).pipe(
    Effect.as(`${where} answers`),
    Effect.mapError(({ reason }) => new WhatsAppUnreachable({ where, why: reason }))
  )
})

const bind = Effect.gen(function*() {
  const { smppSystemType: systemType = "" } = yield* AppConfig
  const address = yield* SmppCarrier
  // A receipt that arrives here belongs to a node. The carrier resends receipts that fail.
  const onDeliver = () => Effect.die("doctor accepts no receipts")
  return yield* SmppSession.open({ address, systemType, onDeliver }).pipe(
    Effect.as("the carrier in SMPP_URL accepts the bind"),
    Effect.mapError(({ reason }) => new BindRefused({ why: reason }))
  )
}).pipe(Effect.scoped, Effect.provide(SmppCarrier.layer))

const profile = Effect.map(SmsHttpProfile, ({ name }) => `the profile of ${name} in SMS_HTTP_PROFILE is valid`).pipe(
  Effect.provide(SmsHttpProfile.layer.pipe(Layer.provide(NodeServices.layer)))
)

/** Whether SMS can be sent. With SMPP it binds and unbinds; with HTTP it only reads the profile. */
export const smsCheck = Effect.gen(function*() {
  const smsProvider = yield* upstreamOf("SMS_PROVIDER", (config) => config.smsProvider)
  switch (smsProvider) {
    case "sandbox":
      return yield* inSandbox("SMS go to the sandbox and reach no recipient")
    case "smpp":
      return yield* bind
    case "http":
      return yield* profile
  }
})
