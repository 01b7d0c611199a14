import "../../../platform/observability/muteLibsignal.ts"
import {
  areJidsSameUser,
  type AuthenticationCreds,
  type BaileysEventMap,
  DEFAULT_CONNECTION_CONFIG,
  initAuthCreds,
  makeWASocket,
  type SocketConfig,
  type WASocket
} from "@whiskeysockets/baileys"
import { Cause, Effect, Layer, Queue, Schema } from "effect"
import { AsyncLocalStorage } from "node:async_hooks"
import { type Credentials, SessionTaken } from "../credentials/CredentialStore.ts"
import {
  type SessionSocket,
  type SessionTraffic,
  type SocketEvent,
  type StanzaKind,
  WhatsAppSocket
} from "../socket/WhatsAppSocket.ts"
import type { Stanza } from "../wire/Stanza.ts"
import { hasSoundNames } from "../wire/validIds.ts"
import { durableLines } from "./BaileysAuth.ts"
import { directoryOf, tellOfPeople } from "./BaileysDirectory.ts"
import { causeOf, detailOf, type Disconnect } from "./BaileysErrors.ts"
import { endOnFalsePairing, endOnNonsense, endOnSilence, inTheirOrder, refuseUnsoundNames } from "./BaileysFrames.ts"
import { type KeysOptions, makeKeys, type Run } from "./BaileysKeys.ts"
import { type Deciphered, type Held, makeGuardedRatchets } from "./BaileysRatchets.ts"
import { relayOver } from "./BaileysRelay.ts"
import { messageOf, sendingOf, serverAt } from "./BaileysSending.ts"
import { standing } from "./BaileysSettings.ts"
import { DeviceCache } from "./DeviceCache.ts"
import { makeEnvelopes } from "./Envelopes.ts"
import { decodeValue, encodeValue } from "./keyValues.ts"
import { makeResends } from "./MessageEnvelopes.ts"
import { looseEnds, noteTold } from "./unhandledRejections.ts"

/** The address of the real WhatsApp. */
export const liveUrl = String(DEFAULT_CONNECTION_CONFIG.waWebSocketUrl)

const credsEntry = { type: "creds", key: "" }

const silent = (): SocketConfig["logger"] => {
  const nothing = () => {}
  return {
    level: "silent",
    child: silent,
    trace: nothing,
    debug: nothing,
    info: nothing,
    warn: nothing,
    error: nothing
  }
}

const stanzas: ReadonlyArray<readonly [event: string, kind: StanzaKind]> = [
  ["CB:ack,class:message", "ack"],
  ["CB:receipt", "receipt"],
  ["CB:message", "message"],
  ["CB:notification,type:w:gp2", "group"]
]

/** What a connection has to tell; `creds` is a change of the credentials. */
type Raw = SocketEvent | { readonly _tag: "Creds" }

/**
 * Where WhatsApp is, by its ws: or wss: address, and which version of WhatsApp Web it is told; the library's own if
 * none.
 */
export interface WhatsAppServer {
  readonly url: string
  readonly version?: readonly [number, number, number] | undefined
}

interface OpenOptions {
  readonly credentials: Credentials
  readonly isPaired: boolean
  readonly traffic: SessionTraffic
}

const storedCreds = Effect.fnUntraced(function*({ credentials, isPaired }: OpenOptions) {
  if (!isPaired) return initAuthCreds()
  const bytes = (yield* credentials.get(credsEntry.type, [credsEntry.key])).get(credsEntry.key)
  // Only this file writes them.
  return bytes === undefined ? initAuthCreds() : decodeValue(bytes) as AuthenticationCreds
})

const answerWithin = 3_000

/** Takes this device off its phone's list. */
const removal = (jid: string) => ({
  tag: "iq",
  attrs: { to: "s.whatsapp.net", type: "set", xmlns: "md" },
  content: [{ tag: "remove-companion-device", attrs: { jid, reason: "user_initiated" } }]
})

const digitsOf = (creds: AuthenticationCreds) => creds.me?.id.split(/[:@]/)[0] ?? ""

/** Asked for a pairing code, the library knows the phone's name already; only the phone's signature makes a device. */
const deviceOf = ({ account, me }: AuthenticationCreds) => account === undefined ? undefined : me?.id

const makeRun = Effect.map(Effect.context<never>(), (context): Run => {
  const run = Effect.runPromiseWith(context)
  return (effect) =>
    run(effect).catch((error: unknown) => {
      noteTold(error)
      return Promise.reject(error)
    })
})

/** Credentials and keys as the library wants them, over those of the session. */
const makeAuth = (
  { credentials, fail, run }: Omit<KeysOptions, "held">,
  creds: AuthenticationCreds,
  url: string
) => {
  const held = new AsyncLocalStorage<Held>()
  let failure: Promise<never> | undefined
  // What the library says after a failure is not true: that a message cannot be read, and WhatsApp would forget it.
  const failAndSilence = (cause: Cause.Cause<unknown>) => {
    const error = new Error("keys could not be read or written")
    noteTold(error)
    failure ??= Promise.reject(error)
    failure.catch(() => {})
    fail(cause)
  }
  const keys = makeKeys({ credentials, run, held, fail: failAndSilence })
  const envelopes = makeEnvelopes()
  const isOwn = (jid: string) => areJidsSameUser(jid, creds.me?.id) || areJidsSameUser(jid, creds.me?.lid)
  const resends = makeResends(isOwn)
  const commit = (changes: Held, decrypted: ReadonlyArray<Deciphered>) => {
    const sessionId = credentials.owned.id
    const messages = decrypted.flatMap(({ ciphertext, plaintext }) => {
      const envelope = envelopes.of(ciphertext)
      if (envelope === undefined) return []
      return [{ envelope, plaintext }, ...resends.of(envelope, plaintext)].map((message) => ({ sessionId, ...message }))
    })
    return keys.write([...changes.values()], messages)
  }
  const { durable, guarded } = makeGuardedRatchets({ held, commit })
  return {
    note: (stanza: Stanza) => {
      envelopes.note(stanza)
      resends.note(stanza)
    },
    config: {
      auth: { creds, keys: keys.store },
      makeSignalRepository: (...args) => guarded(DEFAULT_CONNECTION_CONFIG.makeSignalRepository(...args)),
      agent: durableLines(url, () => failure ?? durable())
    } satisfies Partial<SocketConfig>
  }
}

/** What the library asks the message part for. */
const questions = (traffic: SessionTraffic, run: Run) =>
  ({
    getMessage: ({ id, remoteJid }) =>
      run(traffic.sentMessage(remoteJid ?? "", id ?? "")).then((kept) =>
        kept === undefined ? undefined : messageOf(kept)
      ),
    // The message part keeps what the library gave it.
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

const connect = Effect.fnUntraced(function*({ url, version }: WhatsAppServer, options: OpenOptions) {
  const { credentials, traffic } = options
  const raw = yield* Queue.unbounded<Raw>()
  const run = yield* makeRun
  const creds = yield* storedCreds(options)
  let isDirty = false

  const fail = (cause: Cause.Cause<unknown>) => {
    const taken = Schema.is(SessionTaken)(Cause.squash(cause))
    const detail = Cause.pretty(cause).split("\n")[0] ?? ""
    Queue.offerUnsafe(raw, { _tag: "Closed", cause: taken ? "taken" : "lost", detail })
  }
  const { config, note } = makeAuth({ credentials, run, fail }, creds, url)
  const devices = new DeviceCache()
  const socket = makeWASocket({
    ...standing,
    ...config,
    ...questions(traffic, run),
    ...serverAt(url),
    ...(version !== undefined && { version: [...version] }),
    logger: silent(),
    userDevicesCache: devices
  })
  endOnNonsense(socket)
  endOnFalsePairing(socket, () => creds.account !== undefined)
  inTheirOrder(socket)
  refuseUnsoundNames(socket, run)
  yield* Effect.forkScoped(endOnSilence(socket))
  socket.ws.prependListener("CB:message", note)
  for (const [event, kind] of stanzas) {
    socket.ws.on(event, (stanza: Stanza) => {
      if (hasSoundNames(stanza)) traffic.onStanza(kind, stanza)
    })
  }
  tellOfPeople(socket, traffic.onPeople)
  socket.ev.on("creds.update", () => {
    isDirty = true
    Queue.offerUnsafe(raw, { _tag: "Creds" })
  })
  socket.ev.on("connection.update", (update) => {
    for (const event of eventsOf(update, creds)) Queue.offerUnsafe(raw, event)
  })

  /** Whole, as the library changes them in place; a device that no phone has signed yet has nothing to be kept. */
  const flush = Effect.suspend(() => {
    if (!isDirty || creds.account === undefined) return Effect.void
    isDirty = false
    return credentials.set([{ ...credsEntry, value: encodeValue(creds) }])
  })
  yield* Effect.addFinalizer(() =>
    Effect.promise(() => socket.end(undefined)).pipe(
      Effect.timeoutOption("1 second"),
      Effect.andThen(flush),
      Effect.ignoreCause
    )
  )
  const relay = relayOver(socket, (user) => devices.get(user) !== undefined)
  return sessionSocket({ raw, flush, socket, relay, device: () => deviceOf(creds) })
})

const sessionSocket = ({ device, flush, raw, relay, socket }: {
  readonly raw: Queue.Queue<Raw>
  readonly flush: Effect.Effect<void, SessionTaken>
  readonly socket: WASocket
  readonly relay: ReturnType<typeof relayOver>
  /** Its name on its phone's list; undefined while no phone has it there. */
  readonly device: () => string | undefined
}): SessionSocket => ({
  ...sendingOf(socket, { logger: silent(), relay }),
  ...directoryOf(socket),
  next: Effect.gen(function*() {
    while (true) {
      const event = yield* Queue.take(raw)
      yield* flush
      if (event._tag !== "Creds") return event
    }
  }).pipe(
    Effect.catchTag(
      "SessionTaken",
      ({ message }) => Effect.succeed<SocketEvent>({ _tag: "Closed", cause: "taken", detail: message })
    ),
    // Credentials that cannot be written end the connection; the next one begins with what there is.
    Effect.catchDefect((defect) =>
      Effect.succeed<SocketEvent>({ _tag: "Closed", cause: "lost", detail: String(defect) })
    )
  ),
  requestPairingCode: (phoneNumber) =>
    Effect.orElseSucceed(Effect.tryPromise(() => socket.requestPairingCode(phoneNumber)), () => undefined),
  // Asked, not told, as the library does it: a connection that closes right after may take the word with it.
  logOut: Effect.suspend(() => {
    const jid = device()
    return jid === undefined
      ? Effect.void
      : Effect.ignoreCause(Effect.tryPromise(() => socket.query(removal(jid), answerWithin)))
  })
})

/** Connections by the library to a server, which is asked for before each of them. */
export const layerBaileys = (server: Effect.Effect<WhatsAppServer>) =>
  Layer.effect(
    WhatsAppSocket,
    Effect.as(
      looseEnds,
      WhatsAppSocket.of({ open: (options) => Effect.orDie(Effect.flatMap(server, (found) => connect(found, options))) })
    )
  )
