/**
 * The simulated servers: what a node uses where no relay, carrier or WhatsApp is configured. Only the root mounts them.
 * It passes the adapter that connects a channel to a server, so that the sandbox knows the ports only.
 */
import { Effect, Layer } from "effect"
import { BounceListener } from "../channels/email/reports/BounceListener.ts"
import type { Smtp } from "../channels/email/smtp/Smtp.ts"
import type { WhatsAppSocket } from "../channels/whatsapp/socket/WhatsAppSocket.ts"
import { SandboxInbox } from "./mail/SandboxInbox.ts"
import { SandboxMailHttp } from "./mail/SandboxMailHttp.ts"
import { SandboxMailServer } from "./mail/SandboxMailServer.ts"
import { SandboxReporter, SandboxReports } from "./mail/SandboxReports.ts"
import { SandboxHome } from "./pages/LocalPage.ts"
import { SandboxSmsHttp } from "./sms/SandboxSmsHttp.ts"
import { SandboxSmsProvider, SandboxSmsReceipts } from "./sms/SandboxSmsProvider.ts"
import { SandboxPhonesHttp } from "./whatsapp/SandboxPhonesHttp.ts"
import { SimulatedWhatsApp, type SimulatorAddress } from "./whatsapp/SimulatedWhatsApp.ts"
import { SimulatorHost } from "./whatsapp/SimulatorHost.ts"

type ConnectSmtp<E, R> = (url: string) => Layer.Layer<Smtp, E, R>

/** An SMTP server with an inbox and its pages, in the place of a relay. */
const relay = <E, R>(connect: ConnectSmtp<E, R>) =>
  Layer.unwrap(Effect.map(SandboxMailServer, ({ port }) => connect(`smtp://127.0.0.1:${port}?tls=never`))).pipe(
    Layer.merge(SandboxMailHttp),
    Layer.provide(SandboxMailServer.layer()),
    Layer.provide([SandboxInbox.layer(), SandboxReports.layer])
  )

/** Sends delivery reports and complaints about mail to special addresses to this node's own listener. */
const reporter = <E, R>(connect: ConnectSmtp<E, R>) =>
  Layer.unwrap(
    Effect.map(BounceListener, ({ address }) =>
      address === undefined
        ? Layer.empty
        : SandboxReporter.pipe(Layer.provide(connect(`smtp://${address}?tls=never`))))
  ).pipe(Layer.provide(SandboxReports.layer))

/** A carrier that accepts every SMS, its receipts, and the page of its phones. */
const sms = Layer.mergeAll(SandboxSmsHttp, SandboxSmsReceipts).pipe(Layer.provideMerge(SandboxSmsProvider))

/**
 * One simulated WhatsApp in the whole cluster, with its state in the database. Every node connects to it and serves the
 * pages of its phones.
 */
const whatsapp = <E, R>(connect: (server: Effect.Effect<SimulatorAddress>) => Layer.Layer<WhatsAppSocket, E, R>) =>
  Layer.unwrap(Effect.map(SimulatedWhatsApp, ({ address }) => connect(address))).pipe(
    Layer.merge([SimulatorHost, SandboxPhonesHttp]),
    Layer.provide(SimulatedWhatsApp.layer)
  )

/** The simulated server of each channel, and the first page of all. */
export const Sandbox = { relay, reporter, sms, whatsapp, home: SandboxHome } as const
