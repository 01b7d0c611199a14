import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { eraseRows, type ErasureStep } from "../../accounts/Erasure.ts"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import * as Query from "../../platform/database/Query.ts"
import { PublicDownload } from "../../platform/net/PublicDownload.ts"
import { CredentialStore } from "./credentials/CredentialStore.ts"
import { Contacts } from "./directory/Contacts.ts"
import { ContactsHttp } from "./directory/ContactsHttp.ts"
import { Directory } from "./directory/Directory.ts"
import { DirectoryActor } from "./directory/DirectoryActor.ts"
import { Groups } from "./directory/Groups.ts"
import { GroupsHttp } from "./directory/GroupsHttp.ts"
import { InboundTraffic } from "./inbox/InboundTraffic.ts"
import { Inbox } from "./inbox/Inbox.ts"
import { Media, SimulatedFiles } from "./inbox/Media.ts"
import { MediaHttp } from "./inbox/MediaHttp.ts"
import { maxFileBytes, MediaRoom } from "./inbox/MediaRoom.ts"
import { MessagesHttp } from "./outbox/MessagesHttp.ts"
import { OutboxFigures } from "./outbox/OutboxFigures.ts"
import { OutboxSender } from "./outbox/OutboxSender.ts"
import { OutboxSenders } from "./outbox/OutboxSenders.ts"
import { OutboxStatusUpdates } from "./outbox/OutboxStatusUpdates.ts"
import { OutboxSweeper } from "./outbox/OutboxSweeper.ts"
import { ScheduledOutbox } from "./outbox/ScheduledOutbox.ts"
import { WhatsAppMessages } from "./outbox/WhatsAppMessages.ts"
import { PairingLinks } from "./sessions/PairingLinks.ts"
import { SessionActor, SessionSweeper } from "./sessions/SessionActor.ts"
import { Sessions } from "./sessions/Sessions.ts"
import { SessionsHttp } from "./sessions/SessionsHttp.ts"
import { LiveSockets } from "./socket/LiveSockets.ts"
import { MessageTraffic } from "./socket/MessageTraffic.ts"

const files = eraseRows("whatsapp_files")

/**
 * Erases WhatsApp sessions with their keys, and files that wait to be sent. The session sweeper logs each device out over
 * its actor's connection and erases the session. A session that is left after five minutes is erased without a logout.
 */
export const whatsappErasure: ErasureStep = {
  name: "whatsapp",
  /** Hides the sessions and stops their writes. The backdated row is due at the sweeper's next poll. */
  atOnce: Effect.fnUntraced(function*(accountId) {
    const sql = yield* SqlClient.SqlClient
    yield* Query.run(sql`update whatsapp_sessions set desired = 'removed', updated_at = now() - interval '1 minute'
      where account_id = ${accountId}`)
  }),
  some: Effect.fnUntraced(function*(accountId) {
    const sql = yield* SqlClient.SqlClient
    const erased = yield* Query.rowCount(sql`delete from whatsapp_sessions
      where account_id = ${accountId} and updated_at < now() - interval '5 minutes' returning 1`)
    return erased > 0 ? erased : yield* files(accountId)
  })
}

const Downloads = Layer.unwrap(
  Effect.map(AppConfig, ({ whatsappMediaAllowLoopback, whatsappMediaMiB }) =>
    PublicDownload.layer({
      allowLoopback: whatsappMediaAllowLoopback,
      maxBytes: whatsappMediaMiB * 1024 * 1024,
      timeout: "60 seconds"
    }))
)

/** Handles the messages of sessions in both directions. */
const Traffic = Layer.effect(
  MessageTraffic,
  Effect.gen(function*() {
    return MessageTraffic.join(yield* InboundTraffic, yield* OutboxSender)
  })
).pipe(Layer.provide([InboundTraffic.layer, OutboxSender.layer.pipe(Layer.provide(Downloads))]))

/** Received files are stored at WhatsApp, or at the simulated one on this machine. */
const Files = Layer.unwrap(
  Effect.map(
    AppConfig,
    ({ whatsappUrl }) =>
      PublicDownload.layer({ allowLoopback: whatsappUrl !== "live", maxBytes: maxFileBytes, timeout: "60 seconds" })
  )
)

/** The files of test sessions are stored at the simulated one. */
const FilesOfTests = Layer.effect(SimulatedFiles, PublicDownload).pipe(
  Layer.provide(PublicDownload.layer({ allowLoopback: true, maxBytes: maxFileBytes, timeout: "60 seconds" }))
)

/** Contacts, groups and received files, which requests ask for. */
const People = Layer.mergeAll(
  ContactsHttp.pipe(Layer.provideMerge(Contacts.layer)),
  GroupsHttp.pipe(Layer.provideMerge(Groups.layer)),
  MediaHttp.pipe(Layer.provideMerge(Media.layer), Layer.provide([Files, FilesOfTests, MediaRoom.layer])),
  DirectoryActor
).pipe(Layer.provide(Directory.layer))

/** Received messages and groups, for messages that refer to them. */
const References = Layer.mergeAll(Groups.layerDirectory, Inbox.layerReceived)

/** The WhatsApp channel with its endpoints and actors. It requires `WhatsAppSocket`. */
export const WhatsAppLayer = Layer.mergeAll(
  SessionsHttp.pipe(Layer.provideMerge(PairingLinks.layer)),
  MessagesHttp.pipe(Layer.provideMerge(WhatsAppMessages.layer)),
  SessionSweeper,
  OutboxSweeper,
  ScheduledOutbox,
  People,
  SessionActor.pipe(Layer.provide(CredentialStore.layer), Layer.provide(Traffic), Layer.provide(Inbox.layerJournal))
).pipe(
  Layer.provide(References),
  Layer.provideMerge([Sessions.layer, OutboxFigures.layer]),
  Layer.provide(OutboxSenders.layer),
  Layer.provide(OutboxStatusUpdates.layer),
  Layer.provide(Inbox.layer),
  Layer.provide(LiveSockets.layer)
)
