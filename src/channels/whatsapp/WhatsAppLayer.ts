import { Effect, Layer } from "effect"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { PublicDownload } from "../../platform/net/PublicDownload.ts"
import { Contacts } from "./Contacts.ts"
import { ContactsHttp } from "./ContactsHttp.ts"
import { CredentialStore } from "./CredentialStore.ts"
import { Directory } from "./Directory.ts"
import { DirectoryActor } from "./DirectoryActor.ts"
import { Groups } from "./Groups.ts"
import { GroupsHttp } from "./GroupsHttp.ts"
import { Inbox } from "./Inbox.ts"
import { LiveSockets } from "./LiveSockets.ts"
import { makeInboundPart } from "./makeInboundPart.ts"
import { makeOutboxSender } from "./makeOutboxSender.ts"
import { Media } from "./Media.ts"
import { MediaHttp } from "./MediaHttp.ts"
import { largestMedia, MediaRoom } from "./MediaRoom.ts"
import { MessagesHttp } from "./MessagesHttp.ts"
import { mergeTraffic } from "./messageTraffic.ts"
import { OutboxNews } from "./OutboxNews.ts"
import { OutboxSenders } from "./OutboxSenders.ts"
import { OutboxSweeper } from "./OutboxSweeper.ts"
import { RequestWaits } from "./RequestWaits.ts"
import { SessionActor } from "./SessionActor.ts"
import { Sessions } from "./Sessions.ts"
import { SessionsHttp } from "./SessionsHttp.ts"
import { SessionSweeper } from "./SessionSweeper.ts"
import { WhatsAppMessages } from "./WhatsAppMessages.ts"
import { MessageTraffic } from "./WhatsAppSocket.ts"

const Downloads = Layer.unwrap(
  Effect.map(AppConfig, ({ whatsappMediaAllowLoopback, whatsappMediaMiB }) =>
    PublicDownload.layer({
      allowLoopback: whatsappMediaAllowLoopback,
      maxBytes: whatsappMediaMiB * 1024 * 1024,
      timeout: "60 seconds"
    }))
)

/** What is done with messages, part by part. */
const Traffic = Layer.effect(MessageTraffic, Effect.map(Effect.all([makeInboundPart, makeOutboxSender]), mergeTraffic))
  .pipe(Layer.provide(Downloads))

/** Files that came in lie at WhatsApp, or at the simulated one of this machine. */
const Files = Layer.unwrap(
  Effect.map(
    AppConfig,
    ({ whatsappUrl }) =>
      PublicDownload.layer({ allowLoopback: whatsappUrl !== "live", maxBytes: largestMedia, timeout: "60 seconds" })
  )
)

/** Whom and what sessions know, as requests ask for it. */
const People = Layer.mergeAll(
  ContactsHttp.pipe(Layer.provide(Contacts.layer)),
  GroupsHttp.pipe(Layer.provide(Groups.layer)),
  MediaHttp.pipe(Layer.provide(Media.layer), Layer.provide([Files, MediaRoom.layer])),
  DirectoryActor
).pipe(Layer.provide(Directory.layer))

/** What the messages that are sent know of those that came in, and of groups. */
const Known = Layer.mergeAll(Groups.layerDirectory, Inbox.layerReceived)

/** The WhatsApp channel with its endpoints and actors; it asks for `WhatsAppSocket`, the connections to WhatsApp. */
export const WhatsAppLayer = Layer.mergeAll(
  SessionsHttp,
  MessagesHttp.pipe(Layer.provideMerge(WhatsAppMessages.layer)),
  SessionSweeper,
  OutboxSweeper,
  People,
  SessionActor.pipe(Layer.provide(CredentialStore.layer), Layer.provide(Traffic), Layer.provide(Inbox.layerJournal))
).pipe(
  Layer.provide(Known),
  Layer.provide(Sessions.layer),
  Layer.provide(RequestWaits.layer),
  Layer.provide(OutboxSenders.layer),
  Layer.provide(OutboxNews.layer),
  Layer.provide(Inbox.layer),
  Layer.provide(LiveSockets.layer)
)
