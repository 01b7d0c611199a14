/**
 * The simulated servers: what a node uses where no relay, carrier or WhatsApp is configured. Only the root mounts them.
 * It passes the adapter that connects a channel to a server, so that the sandbox knows the ports only.
 */
import { Effect, Layer } from "effect"
import { BounceListener } from "../channels/email/reports/BounceListener.ts"
import type { Smtp } from "../channels/email/smtp/Smtp.ts"
import { SmsProvider, TestSmsProvider } from "../channels/sms/parts/SmsProvider.ts"
import type { WhatsAppSocket } from "../channels/whatsapp/socket/WhatsAppSocket.ts"
import { PlannedFaults } from "./faults/PlannedFaults.ts"
import { SandboxDelivery } from "./mail/SandboxDelivery.ts"
import { SandboxInbox } from "./mail/SandboxInbox.ts"
import { SandboxMailHttp } from "./mail/SandboxMailHttp.ts"
import { SandboxMailServer } from "./mail/SandboxMailServer.ts"
import { SandboxReporter, SandboxReports, TestReporter } from "./mail/SandboxReports.ts"
import { withTestMail } from "./mail/TestRelay.ts"
import { TestMessages } from "./messages/TestMessages.ts"
import { SandboxHome } from "./pages/LocalPage.ts"
import { ReceiverHttp } from "./receiver/ReceiverHttp.ts"
import { Receivers } from "./receiver/Receivers.ts"
import { SandboxSmsHttp } from "./sms/SandboxSmsHttp.ts"
import { SandboxSmsProvider, SandboxSmsReceipts, TestSmsReceipts } from "./sms/SandboxSmsProvider.ts"
import { SandboxPhonesHttp } from "./whatsapp/SandboxPhonesHttp.ts"
import { SimulatedWhatsApp, type SimulatorAddress } from "./whatsapp/SimulatedWhatsApp.ts"
import { SimulatorHost, TestSimulatorHost } from "./whatsapp/SimulatorHost.ts"
import { withTestSessions } from "./whatsapp/TestSessions.ts"

type ConnectSmtp<E, R> = (url: string) => Layer.Layer<Smtp, E, R>

/** The mail servers behind the sandbox. */
const mail = SandboxDelivery.layer.pipe(Layer.provideMerge(Layer.merge(SandboxInbox.layer(), SandboxReports.layer)))

/** Takes the mail of test accounts, and passes on what its recipients report. The relay takes all other mail. */
const withTests = <E, R>(relay: Layer.Layer<Smtp, E, R>) =>
  withTestMail(relay).pipe(Layer.provide([mail, PlannedFaults]))

/** An SMTP server with an inbox and its pages, in the place of a relay. */
const relay = <E, R>(connect: ConnectSmtp<E, R>) =>
  Layer.unwrap(Effect.map(SandboxMailServer, ({ port }) => connect(`smtp://127.0.0.1:${port}?tls=never`))).pipe(
    Layer.merge(SandboxMailHttp),
    Layer.provide(SandboxMailServer.layer()),
    Layer.provide(mail)
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
const sms = Layer.mergeAll(SandboxSmsHttp, SandboxSmsReceipts).pipe(
  Layer.provideMerge(SandboxSmsProvider),
  Layer.provide(PlannedFaults)
)

/**
 * One simulated WhatsApp in the whole cluster, with its state in the database. Every node connects to it and serves the
 * pages of its phones.
 */
const whatsapp = <E, R>(connect: (server: Effect.Effect<SimulatorAddress>) => Layer.Layer<WhatsAppSocket, E, R>) =>
  Layer.unwrap(Effect.map(SimulatedWhatsApp, ({ address }) => connect(address))).pipe(
    Layer.merge([SimulatorHost, SandboxPhonesHttp]),
    Layer.provide(SimulatedWhatsApp.layer)
  )

/** Connects the sessions of test accounts to the simulated WhatsApp, and all others to the given one. */
const withSessions = <E, R, E2, R2>(
  live: Layer.Layer<WhatsAppSocket, E, R>,
  connect: (server: Effect.Effect<SimulatorAddress>) => Layer.Layer<WhatsAppSocket, E2, R2>
) => withTestSessions(live, connect).pipe(Layer.provide([SimulatedWhatsApp.layer, PlannedFaults]))

/** The simulated server of each channel, and the first page of all. */
export const Sandbox = {
  relay,
  reporter,
  withTestMail: withTests,
  testReporter: TestReporter.pipe(Layer.provide(mail)),
  sms,
  testSms: Layer.effect(TestSmsProvider, SmsProvider).pipe(
    Layer.provide(SandboxSmsProvider),
    Layer.provide(PlannedFaults)
  ),
  testReceipts: TestSmsReceipts,
  whatsapp,
  withTestSessions: withSessions,
  testHost: TestSimulatorHost,
  testFaults: PlannedFaults,
  testMessages: TestMessages.pipe(Layer.provide(SimulatedWhatsApp.layer)),
  receivers: ReceiverHttp.pipe(Layer.provideMerge(Receivers)),
  home: SandboxHome
} as const
