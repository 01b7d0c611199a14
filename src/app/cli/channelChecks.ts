import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, Redacted, Schema } from "effect"
import { SmsHttpProfile } from "../../channels/sms/providers/HttpSmsProvider.ts"
import { SmppCarrier } from "../../channels/sms/smpp/SmppCarrier.ts"
import { openSmppSession } from "../../channels/sms/smpp/SmppSession.ts"
import { liveUrl } from "../../channels/whatsapp/baileys/BaileysSocket.ts"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { webSocketAnswers } from "../../platform/net/webSocketAnswers.ts"

/** Where sessions would connect there is nobody, or nobody who speaks like WhatsApp. */
class WhatsAppUnreachable extends Schema.TaggedError<WhatsAppUnreachable>()("WhatsAppUnreachable", {
  where: Schema.String,
  why: Schema.String
}) {
  override get message() {
    return `${this.where} cannot be reached: ${this.why}.`
  }
}

/** The carrier gave no bind. */
class BindRefused extends Schema.TaggedError<BindRefused>()("BindRefused", { why: Schema.String }) {
  override get message() {
    return `the carrier of SMPP_URL gives no bind: ${this.why}; if it allows one only, a running node may have it.`
  }
}

/** What WhatsApp's own pages say; others do not ask. */
const webOrigin = "https://web.whatsapp.com"

/** Whether sessions could connect: no more than the WebSocket is opened, so no number is at risk. */
export const whatsappCheck = Effect.gen(function*() {
  const { whatsappUrl } = yield* AppConfig
  if (whatsappUrl === undefined) return "no WHATSAPP_URL: the sandbox plays WhatsApp, its phones are at /sandbox/phones"
  const url = whatsappUrl === "live" ? new URL(liveUrl) : Redacted.value(whatsappUrl)
  const where = whatsappUrl === "live" ? "WhatsApp" : "the server of WHATSAPP_URL"
  return yield* webSocketAnswers(url, webOrigin).pipe(
    Effect.as(`${where} answers`),
    Effect.mapError(({ reason }) => new WhatsAppUnreachable({ where, why: reason }))
  )
})

const bind = Effect.gen(function*() {
  const { smppSystemType: systemType = "" } = yield* AppConfig
  const address = yield* SmppCarrier
  // A receipt that comes here by chance is not for us: whoever gets no answer that is fine sends it again.
  const onDeliver = () => Effect.die("the doctor takes no receipts")
  return yield* openSmppSession({ address, systemType, onDeliver }).pipe(
    Effect.as("the carrier of SMPP_URL gives a bind"),
    Effect.mapError(({ reason }) => new BindRefused({ why: reason }))
  )
}).pipe(Effect.scoped, Effect.provide(SmppCarrier.layer))

const profile = Effect.map(SmsHttpProfile, ({ name }) => `the profile of ${name} in SMS_HTTP_PROFILE can be used`).pipe(
  Effect.provide(SmsHttpProfile.layer.pipe(Layer.provide(NodeServices.layer)))
)

/** Whether SMS would leave: a bind is made and left again, of an HTTP provider only the profile is read. */
export const smsCheck = Effect.gen(function*() {
  const { smsProvider } = yield* AppConfig
  switch (smsProvider) {
    case "sandbox":
      return "SMS_PROVIDER is sandbox: SMS go to its phones at /sandbox/sms"
    case "smpp":
      return yield* bind
    case "http":
      return yield* profile
  }
})
