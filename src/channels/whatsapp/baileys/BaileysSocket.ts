import "../../../platform/observability/muteLibsignal.ts"
import {
  type AuthenticationCreds,
  type BaileysEventMap,
  DEFAULT_CONNECTION_CONFIG,
  makeWASocket,
  type SocketConfig,
  type WASocket
} from "@whiskeysockets/baileys"
import { Cause, Effect, Layer, Queue, Schema } from "effect"
import { plainAgent } from "../../../platform/net/plainAgent.ts"
import { type Credentials, OwnershipLost } from "../credentials/CredentialStore.ts"
import {
  type SessionSocket,
  type SessionTraffic,
  type SocketEvent,
  type StanzaKind,
  WhatsAppSocket
} from "../socket/WhatsAppSocket.ts"
import { decodeBody } from "../wire/MessageBody.ts"
import { hasValidIds, type Stanza } from "../wire/Stanza.ts"
import * as BaileysAuth from "./BaileysAuth.ts"
import { directoryOf, listenForPeople } from "./BaileysDirectory.ts"
import { causeOf, detailOf, type Disconnect } from "./BaileysErrors.ts"
import {
  closeOnInvalidPairing,
  closeOnSilence,
  closeOnUnreadableFrame,
  ignoreInvalidIds,
  keepMessageOrder
} from "./BaileysFrames.ts"
import type { Run } from "./BaileysKeys.ts"
import { DeviceCache, relayOver } from "./BaileysRelay.ts"
import { sendingOf } from "./BaileysSending.ts"
import { silentLogger } from "./silentLogger.ts"
import * as StanzaRoom from "./StanzaRoom.ts"
import { markReported, unhandledRejections } from "./unhandledRejections.ts"

/** The address of the real WhatsApp. */
export const liveUrl = String(DEFAULT_CONNECTION_CONFIG.waWebSocketUrl)

/** Status posts and newsletters, which no account wants and which are many. */
const isNoise = (jid: string) => jid === "status@broadcast" || jid.endsWith("@newsletter")

/** Settings of the library besides credentials, address and handlers. */
const settings = {
  // It would also limit each frame sent. `closeOnSilence` limits the wait for the server's first frame.
  connectTimeoutMs: 0,
  emitOwnEvents: false,
  // An online device suppresses the phone's notifications.
  markOnlineOnConnect: false,
  syncFullHistory: false,
  generateHighQualityLinkPreview: false,
  // The library blocks its queue of messages for this long after each one that it cannot decrypt.
  retryRequestDelayMs: 20,
  // A failed commit ends the connection. More retries would block the queue of messages for half a minute.
  transactionOpts: { maxCommitRetries: 1, delayBetweenTriesMs: 1 },
  shouldIgnoreJid: isNoise
} satisfies Partial<SocketConfig>

const stanzas: ReadonlyArray<readonly [event: string, kind: StanzaKind]> = [
  ["CB:ack,class:message", "ack"],
  ["CB:receipt", "receipt"],
  ["CB:message", "message"],
  ["CB:notification,type:w:gp2", "group"]
]

/** An event of the library. `Creds` is a change of the credentials. */
type Raw = SocketEvent | { readonly _tag: "Creds" }

/** The ws: or wss: address of WhatsApp, and the WhatsApp Web version to report, by default the library's. */
export interface WhatsAppServer {
  readonly url: string
  readonly version?: readonly [number, number, number] | undefined
}

interface OpenOptions {
  readonly credentials: Credentials
  readonly isPaired: boolean
  readonly traffic: SessionTraffic
  readonly room: StanzaRoom.ConnectionRoom
}

/** Milliseconds to wait for the answer to a logout. */
const logoutTimeout = 3_000

/** Removes this device from the phone's list. */
const removal = (jid: string) => ({
  tag: "iq",
  attrs: { to: "s.whatsapp.net", type: "set", xmlns: "md" },
  content: [{ tag: "remove-companion-device", attrs: { jid, reason: "user_initiated" } }]
})

const digitsOf = (creds: AuthenticationCreds) => creds.me?.id.split(/[:@]/)[0] ?? ""

/** The device's address. A request for a pairing code sets `me` already, but only the phone's signature makes a device. */
const deviceOf = ({ account, me }: AuthenticationCreds) => account === undefined ? undefined : me?.id

const promiseRunner = Effect.map(Effect.context<never>(), (context): Run => {
  const run = Effect.runPromiseWith(context)
  return (effect) =>
    run(effect).catch((error: unknown) => {
      markReported(error)
      return Promise.reject(error)
    })
})

/** The server's address in the library's settings. A server without TLS also serves the media. */
const serverAt = (url: string): Pick<SocketConfig, "fetchAgent" | "waWebSocketUrl"> => {
  const { hostname, port, protocol } = new URL(url)
  const fetchAgent = plainAgent({ host: hostname, port: Number(port === "" ? 80 : port) })
  return { waWebSocketUrl: url, ...(protocol === "ws:" && { fetchAgent }) }
}

/** Answers the library's questions from the session's traffic. */
const answers = (traffic: SessionTraffic, run: Run) =>
  ({
    getMessage: ({ id, remoteJid }) =>
      run(traffic.sentMessage(remoteJid ?? "", id ?? "")).then((kept) =>
        kept === undefined ? undefined : decodeBody(kept.body, kept.fillIn)
      ),
    // The traffic stores groups in the form that the library gave.
    cachedGroupMetadata: (jid) => run(traffic.groupMetadata(jid)) as ReturnType<SocketConfig["cachedGroupMetadata"]>
  }) satisfies Partial<SocketConfig>

const eventsOf = (
  { connection, isNewLogin, lastDisconnect, qr }: BaileysEventMap["connection.update"],
  creds: AuthenticationCreds
): ReadonlyArray<SocketEvent> => {
  const error: Disconnect | undefined = lastDisconnect?.error
  return [
    ...(qr === undefined ? [] : [{ _tag: "Code", text: qr } as const]),
    ...(isNewLogin === true ? [{ _tag: "Paired" } as const] : []),
    ...(connection === "open" ? [{ _tag: "Opened", phoneNumber: digitsOf(creds) } as const] : []),
    ...(connection === "close" ? [{ _tag: "Closed", cause: causeOf(error), detail: detailOf(error) } as const] : [])
  ]
}

const connect = Effect.fnUntraced(function*(
  { url, version }: WhatsAppServer,
  { credentials, isPaired, room, traffic }: OpenOptions
) {
  const raw = yield* Queue.unbounded<Raw>()
  const run = yield* promiseRunner
  const creds = yield* BaileysAuth.storedCreds(credentials, isPaired)
  let isDirty = false

  const fail = (cause: Cause.Cause<unknown>) => {
    const isLost = Schema.is(OwnershipLost)(Cause.squash(cause))
    const detail = Cause.pretty(cause).split("\n")[0] ?? ""
    Queue.offerUnsafe(raw, { _tag: "Closed", cause: isLost ? "ownership_lost" : "lost", detail })
  }
  const { config, note } = BaileysAuth.make({ credentials, creds, fail, run, url })
  const devices = new DeviceCache()
  const socket = makeWASocket({
    ...settings,
    ...config,
    ...answers(traffic, run),
    ...serverAt(url),
    ...(version !== undefined && { version: [...version] }),
    logger: silentLogger,
    userDevicesCache: devices
  })
  closeOnUnreadableFrame(socket)
  closeOnInvalidPairing(socket, () => creds.account !== undefined)
  keepMessageOrder(socket, room)
  ignoreInvalidIds(socket, run)
  yield* Effect.forkScoped(closeOnSilence(socket))
  socket.ws.prependListener("CB:message", note)
  for (const [event, kind] of stanzas) {
    socket.ws.on(event, (stanza: Stanza) => {
      if (hasValidIds(stanza)) traffic.onStanza(kind, stanza)
    })
  }
  listenForPeople(socket, traffic.onPeople)
  socket.ev.on("creds.update", () => {
    isDirty = true
    Queue.offerUnsafe(raw, { _tag: "Creds" })
  })
  socket.ev.on("connection.update", (update) => {
    for (const event of eventsOf(update, creds)) Queue.offerUnsafe(raw, event)
  })

  /** Stores changed credentials. A device that no phone has signed has nothing worth storing. */
  const flush = Effect.suspend(() => {
    if (!isDirty || creds.account === undefined) return Effect.void
    isDirty = false
    return BaileysAuth.storeCreds(credentials, creds)
  }).pipe(Effect.onInterrupt(() => Effect.sync(() => void (isDirty = true))))
  yield* Effect.addFinalizer(() =>
    Effect.promise(() => socket.end(undefined)).pipe(
      Effect.timeoutOption("1 second"),
      Effect.andThen(flush),
      Effect.ignoreCause
    )
  )
  return sessionSocket({ raw, flush, socket, relay: relayOver(socket, devices), device: () => deviceOf(creds) })
})

const sessionSocket = ({ device, flush, raw, relay, socket }: {
  readonly raw: Queue.Queue<Raw>
  readonly flush: Effect.Effect<void, OwnershipLost>
  readonly socket: WASocket
  readonly relay: ReturnType<typeof relayOver>
  /** The device's address, or undefined while it is unpaired. */
  readonly device: () => string | undefined
}): SessionSocket => ({
  ...sendingOf(socket, { logger: silentLogger, relay }),
  ...directoryOf(socket),
  next: Effect.gen(function*() {
    while (true) {
      const event = yield* Queue.take(raw)
      yield* flush
      if (event._tag !== "Creds") return event
    }
  }).pipe(
    Effect.catchTag(
      "OwnershipLost",
      ({ message }) => Effect.succeed<SocketEvent>({ _tag: "Closed", cause: "ownership_lost", detail: message })
    ),
    // A failed write of credentials ends the connection. The next one starts from the stored credentials.
    Effect.catchDefect((defect) =>
      Effect.succeed<SocketEvent>({ _tag: "Closed", cause: "lost", detail: String(defect) })
    )
  ),
  requestPairingCode: (phoneNumber) =>
    Effect.orElseSucceed(Effect.tryPromise(() => socket.requestPairingCode(phoneNumber)), () => undefined),
  // Waits for the answer, unlike the library's own logout: a connection that closes at once may lose the request.
  logOut: Effect.suspend(() => {
    const jid = device()
    return jid === undefined
      ? Effect.void
      : Effect.ignoreCause(Effect.tryPromise(() => socket.query(removal(jid), logoutTimeout)))
  })
})

/** Connections by the library Baileys. `server` is evaluated before each connection. */
export const layer = (server: Effect.Effect<WhatsAppServer>) =>
  Layer.effect(
    WhatsAppSocket,
    Effect.gen(function*() {
      yield* unhandledRejections
      const room = StanzaRoom.make({ total: 64 * 1024 * 1024, share: 8 * 1024 * 1024 })
      return WhatsAppSocket.of({
        open: (options) =>
          Effect.orDie(Effect.flatMap(server, (found) => connect(found, { ...options, room: room.connection() })))
      })
    })
  )
