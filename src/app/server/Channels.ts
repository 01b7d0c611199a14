import { Context, Effect, Layer, Redacted, Scope } from "effect"
import { EmailLayer } from "../../channels/email/EmailLayer.ts"
import { SmtpLayer } from "../../channels/email/smtp/SmtpLayer.ts"
import { PartStatusUpdates } from "../../channels/sms/parts/PartStatusUpdates.ts"
import { SmsOutlet } from "../../channels/sms/parts/SmsOutlet.ts"
import { HttpOutlet } from "../../channels/sms/providers/HttpOutlet.ts"
import { SmppOutlet } from "../../channels/sms/smpp/SmppOutlet.ts"
import { SmsLayer } from "../../channels/sms/SmsHttp.ts"
import type { WhatsAppServer } from "../../channels/whatsapp/baileys/BaileysSocket.ts"
import { WhatsAppSocket } from "../../channels/whatsapp/socket/WhatsAppSocket.ts"
import { WhatsAppLayer } from "../../channels/whatsapp/WhatsAppLayer.ts"
import { SandboxFaultsHttp } from "../../messages/SandboxFaultsHttp.ts"
import { SandboxMessagesHttp } from "../../messages/SandboxMessagesHttp.ts"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { upstreams } from "../../platform/config/Upstreams.ts"
import { Sandbox } from "../../sandbox/Sandbox.ts"
import { SandboxReceiverHttp } from "../../webhooks/SandboxReceiverHttp.ts"

/** The operator's relay, or the sandbox, which then also sends delivery reports. */
const Email = Layer.unwrap(Effect.map(upstreams, ({ smtpUrl }) =>
  smtpUrl === "sandbox"
    ? Layer.merge(Sandbox.reporter(SmtpLayer.fromUrl), Sandbox.testReporter).pipe(
      Layer.provideMerge(EmailLayer),
      Layer.provide(Sandbox.withTestMail(Sandbox.relay(SmtpLayer.fromUrl)))
    )
    : Sandbox.testReporter.pipe(
      Layer.provideMerge(EmailLayer),
      Layer.provide(Sandbox.withTestMail(SmtpLayer.fromUrl(Redacted.value(smtpUrl).href)))
    )))

const adapter = Effect.promise(() => import("../../channels/whatsapp/baileys/BaileysSocket.ts"))

/** Connections by Baileys. The first one loads it. */
const Baileys = (server: Effect.Effect<WhatsAppServer>) =>
  Layer.effect(
    WhatsAppSocket,
    Effect.gen(function*() {
      const scope = yield* Effect.scope
      const loaded = yield* adapter.pipe(
        Effect.flatMap(({ layer }) => Layer.build(layer(server))),
        Effect.map(Context.get(WhatsAppSocket)),
        Scope.provide(scope),
        Effect.uninterruptible,
        Effect.cached
      )
      return WhatsAppSocket.of({ open: (options) => Effect.flatMap(loaded, ({ open }) => open(options)) })
    })
  )

const SimulatedSessions = Sandbox.withTestSessions(Sandbox.whatsapp(Baileys), Baileys)

const sessionsAt = (server: Effect.Effect<WhatsAppServer>) =>
  Sandbox.withTestSessions(Baileys(server), Baileys).pipe(Layer.merge(Sandbox.testHost))

type Sessions = Layer.Layer<
  WhatsAppSocket,
  never,
  Layer.Services<typeof SimulatedSessions> | Layer.Services<ReturnType<typeof sessionsAt>>
>

/** WhatsApp, another server that speaks its protocol, or the sandbox's simulated one. Test sessions use the last. */
const WhatsApp = Layer.unwrap(Effect.gen(function*(): Effect.fn.Return<
  Sessions,
  Effect.Error<typeof upstreams>,
  AppConfig
> {
  const { whatsappUrl } = yield* upstreams
  if (whatsappUrl === "sandbox") return SimulatedSessions
  const { whatsappVersion: version } = yield* AppConfig
  return sessionsAt(Effect.map(adapter, ({ liveUrl }) => ({
    url: whatsappUrl === "live" ? liveUrl : Redacted.value(whatsappUrl).href,
    version
  })))
}))

/** The sandbox sends its own receipts also where it takes test messages only. */
const withReceipts = <E, R>(outlet: Layer.Layer<SmsOutlet, E, R>) =>
  outlet.pipe(Layer.provideMerge(Sandbox.testReceipts))

const outlets = {
  smpp: withReceipts(SmppOutlet),
  http: withReceipts(HttpOutlet),
  sandbox: SmsOutlet.layerProvider.pipe(Layer.provideMerge(Sandbox.sms))
} as const

type Outlet = (typeof outlets)[keyof typeof outlets]

/** The operator's carrier or aggregator, or the sandbox's. */
const Carrier = Layer.unwrap(Effect.map(
  upstreams,
  ({ smsProvider }): Layer.Layer<SmsOutlet, Layer.Error<Outlet>, Layer.Services<Outlet>> => outlets[smsProvider]
))

/** All channels with their upstreams. A new channel adds a line here. */
export const Channels = Layer.mergeAll(
  Email,
  SmsLayer.pipe(
    Layer.provideMerge(SmsOutlet.withTests(Carrier).pipe(Layer.provide(Sandbox.testSms))),
    Layer.provide(PartStatusUpdates.layer)
  ),
  WhatsAppLayer.pipe(Layer.provide(WhatsApp)),
  SandboxMessagesHttp.pipe(Layer.provideMerge(Sandbox.testMessages)),
  SandboxReceiverHttp.pipe(Layer.provideMerge(Sandbox.receivers)),
  SandboxFaultsHttp.pipe(Layer.provideMerge(Sandbox.testFaults)),
  Sandbox.home
)
