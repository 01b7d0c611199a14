import { Curve, hmacSign, proto, S_WHATSAPP_NET, WA_ADV_ACCOUNT_SIG_PREFIX } from "@whiskeysockets/baileys"
import type { BinaryNode } from "@whiskeysockets/baileys"
import { Effect } from "effect"
import * as NodeCrypto from "node:crypto"
import { once } from "node:events"
import { type RawData, WebSocket, WebSocketServer } from "ws"
import { Connection } from "../../src/sandbox/whatsapp/server/Connection.ts"
import { frameOf } from "../../src/sandbox/whatsapp/wire/FrameReader.ts"
import { certificateChain } from "../../src/sandbox/whatsapp/wire/NoiseResponder.ts"
import type { Handshake } from "../../src/sandbox/whatsapp/wire/NoiseResponder.ts"
import { node, stanzaId } from "../../src/sandbox/whatsapp/wire/stanza.ts"

/** How one connection is served instead of honestly; parts left out are silence. */
export interface Lie {
  /** Replaces the server's half of the handshake: a frame, or silence. */
  readonly hello?: Uint8Array | "silence"
  /** Called after the handshake. */
  readonly opened?: (line: Connection, handshake: Handshake) => void
  /** Called for each later stanza of the client. */
  readonly received?: (line: Connection, stanza: BinaryNode) => void
}

/** A phone's answer to a scanned code; a lie changes some of it. */
export interface Acceptance {
  readonly identity: Uint8Array
  readonly hmac: Uint8Array
  readonly device: BinaryNode["attrs"]
}

/** Shows QR codes to a client without a phone. */
export const showCodes = (line: Connection, refs: ReadonlyArray<Uint8Array | undefined>) =>
  line.send(
    node("iq", { from: S_WHATSAPP_NET, type: "set", id: stanzaId(), xmlns: "md" }, [
      node("pair-device", {}, refs.map((ref) => node("ref", {}, ref)))
    ])
  )

/** The correct acceptance by a phone that does not exist. */
const acceptanceOf = ({ payload }: Handshake, qr: string): Acceptance => {
  const secret = Buffer.from(qr.slice(qr.indexOf("#") + 1).split(",")[3] ?? "", "base64")
  const account = Curve.generateKeyPair()
  const type = proto.ADVEncryptionType.E2EE
  const details = proto.ADVDeviceIdentity.encode({ rawId: 1, timestamp: 0, keyIndex: 1, deviceType: type }).finish()
  const companion = Buffer.from(payload.devicePairingData?.eIdent ?? [])
  const signed = Buffer.concat([WA_ADV_ACCOUNT_SIG_PREFIX, details, companion])
  const identity = proto.ADVSignedDeviceIdentity.encode({
    details,
    accountSignatureKey: account.public,
    accountSignature: Curve.sign(Buffer.from(account.private), signed)
  }).finish()
  const device = { jid: "15550666000:7@s.whatsapp.net", lid: "100000000000666:7@lid" }
  return { identity, hmac: hmacSign(identity, secret), device }
}

/** Forwards everything between a client and the server at this address. */
const passOn = (client: WebSocket, url: string) => {
  const server = new WebSocket(url)
  const early: Array<RawData> = []
  client.on("message", (data) => void (server.readyState === WebSocket.OPEN ? server.send(data) : early.push(data)))
  server.on("open", () => {
    for (const data of early) server.send(data)
  })
  server.on("message", (data) => client.send(data))
  for (const [side, other] of [[client, server], [server, client]] as const) {
    side.on("error", () => {})
    side.on("close", () => other.terminate())
  }
}

/** A proxy in front of an honest server: it lies to the next connections, one lie each, and forwards the others. */
export class LyingWhatsApp {
  readonly url: string
  readonly #lies: Array<Lie> = []
  readonly #lines = new Map<Connection, Handshake>()
  readonly #sockets: WebSocketServer

  private constructor(sockets: WebSocketServer, honest: string) {
    this.#sockets = sockets
    const address = sockets.address()
    this.url = `ws://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/ws/chat`
    const noiseKey = Curve.generateKeyPair()
    const identity = { noiseKey, certificates: certificateChain(Curve.generateKeyPair(), noiseKey) }
    sockets.on("connection", (client) => {
      const lie = this.#lies.shift()
      if (lie === undefined) return passOn(client, honest)
      client.on("error", () => {})
      if (lie.hello === "silence") return
      const { hello } = lie
      if (hello !== undefined) return void client.once("message", () => client.send(frameOf(hello)))
      new Connection(client, identity, {
        opened: (line, handshake) => {
          this.#lines.set(line, handshake)
          lie.opened?.(line, handshake)
        },
        received: (line, stanza) => lie.received?.(line, stanza),
        closed: (line) => void this.#lines.delete(line)
      })
    })
  }

  /** Starts the proxy in front of the server at this address, until the scope ends. */
  static readonly make = (honest: string) =>
    Effect.acquireRelease(
      Effect.promise(async () => {
        const sockets = new WebSocketServer({ host: "127.0.0.1", port: 0 })
        await once(sockets, "listening")
        return new LyingWhatsApp(sockets, honest)
      }),
      (lying) => Effect.promise(() => lying.#stop())
    )

  /** Queues lies for the next connections, one each. */
  queue(...lies: ReadonlyArray<Lie>): void {
    this.#lies.push(...lies)
  }

  /** Number of queued lies. */
  get remaining(): number {
    return this.#lies.length
  }

  /** The connection whose client got this QR code. */
  lineOf(qr: string): Connection {
    const shown = Buffer.from(qr.slice(qr.indexOf("#") + 1).split(",")[2] ?? "", "base64")
    for (const [line, { payload }] of this.#lines) {
      if (shown.equals(Buffer.from(payload.devicePairingData?.eIdent ?? []))) return line
    }
    throw new Error("No client of this server shows this QR code")
  }

  /** Tells the client with this QR code that a phone has accepted it. */
  accept(qr: string, change: (truth: Acceptance) => Partial<Acceptance> = () => ({})): void {
    const line = this.lineOf(qr)
    const handshake = this.#lines.get(line)
    if (handshake === undefined) return
    const truth = acceptanceOf(handshake, qr)
    const { device, hmac, identity } = { ...truth, ...change(truth) }
    const signed = proto.ADVSignedDeviceIdentityHMAC.encode({ details: identity, hmac }).finish()
    line.send(
      node("iq", { from: S_WHATSAPP_NET, type: "set", id: stanzaId() }, [
        node("pair-success", {}, [
          node("device-identity", {}, signed),
          node("device", device),
          node("platform", { name: "lies" }),
          node("biz", { name: "None" })
        ])
      ])
    )
  }

  async #stop(): Promise<void> {
    for (const client of this.#sockets.clients) client.terminate()
    await new Promise((resolve) => this.#sockets.close(resolve))
  }
}

/** A random ref, as a server makes them. */
export const ref = () => Buffer.from(`2@${NodeCrypto.randomBytes(24).toString("base64")}`)
