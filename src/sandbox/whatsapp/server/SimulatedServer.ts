import { Curve, encodeBinaryNode, S_WHATSAPP_NET } from "@whiskeysockets/baileys"
import type { BinaryNode, KeyPair } from "@whiskeysockets/baileys"
import type { WebSocket } from "ws"
import { addressOf, isGroupJid, keyOf, lidJid } from "../model/Address.ts"
import type { Address } from "../model/Address.ts"
import type { SimulatorState } from "../model/SimulatorState.ts"
import { receiptIds } from "../phones/Envelope.ts"
import { historyFor } from "../phones/peerMessages.ts"
import { frameOf } from "../wire/FrameReader.ts"
import { certificateChain } from "../wire/NoiseResponder.ts"
import type { Handshake } from "../wire/NoiseResponder.ts"
import { child, node, resultOf } from "../wire/stanza.ts"
import type { Companion } from "./Companions.ts"
import { Connection } from "./Connection.ts"
import type { ServerIdentity } from "./Connection.ts"
import { ackOf, Exchange } from "./Exchange.ts"
import type { Environment } from "./Exchange.ts"
import { Pairing } from "./Pairing.ts"
import { Queries } from "./Queries.ts"

const streamError = (code: number, content?: ReadonlyArray<BinaryNode>): BinaryNode =>
  node("stream:error", { code: String(code) }, content === undefined ? undefined : [...content])

/**
 * Faults of the server:
 * - `silence`: it keeps the connection open and sends nothing more
 * - `unknown-stanza`: it sends a stanza that no client knows
 * - `truncated-node`: it sends an encrypted frame that ends in the middle of a node
 * - `bad-frame`: it sends a frame without encryption
 * - `unanswered`: it reports changed groups, and drops the connection when the client queries them
 */
export type Misbehaviour = "silence" | "unknown-stanza" | "truncated-node" | "bad-frame" | "unanswered"

/** Counters for tests. */
export interface ServerCounters {
  /** Stanzas from clients, by tag. */
  readonly stanzas: Map<string, number>
  /** Messages that the server acknowledged without an error. */
  acks: number
  /** The versions of WhatsApp Web that clients report. */
  readonly versions: Set<string>
}

/**
 * The simulated WhatsApp server. It speaks the protocol with clients over WebSockets, and relays between them and the
 * virtual phones.
 */
export class SimulatedServer {
  readonly exchange: Exchange
  readonly pairing: Pairing
  readonly counters: ServerCounters = { stanzas: new Map(), acks: 0, versions: new Set() }
  readonly #queries: Queries
  readonly #keys: { readonly noise: KeyPair; readonly root: KeyPair }
  #identity: ServerIdentity | undefined
  readonly #companions = new Map<Connection, Companion>()
  readonly #connections = new Set<Connection>()
  /** Dropped at their next group query. */
  readonly #unanswered = new WeakSet<Connection>()

  constructor(state: SimulatorState, environment: Environment) {
    this.exchange = new Exchange(state, environment)
    this.pairing = new Pairing(this.exchange.phones, this.exchange.companions)
    this.#queries = new Queries(this.exchange)
    const keys = state.shelf<KeyPair>("server")
    const key = (name: string) => {
      const known = keys.get(name) ?? Curve.generateKeyPair()
      keys.set(name, known)
      return known
    }
    this.#keys = { noise: key("noise"), root: key("root") }
  }

  /** Serves a new client. */
  accept(socket: WebSocket): void {
    // Created for the first client: two signatures in JavaScript would slow down every start.
    this.#identity ??= { noiseKey: this.#keys.noise, certificates: certificateChain(this.#keys.root, this.#keys.noise) }
    this.#connections.add(
      new Connection(socket, this.#identity, {
        opened: (connection, handshake) => this.#opened(connection, handshake),
        received: (connection, stanza) => this.#received(connection, stanza),
        closed: (connection) => this.#closed(connection)
      })
    )
  }

  /** Unlinks a device. If it is connected, it gets a stream error. */
  logOut(address: Address): void {
    const connection = this.exchange.companions.connection(address)
    this.exchange.companions.remove(address)
    connection?.end(streamError(401, [node("conflict", { type: "device_removed" })]))
  }

  /** Ends the connection of a device with a stream error. */
  endWith(address: Address, code: number): void {
    const reason = code === 440 ? [node("conflict", { type: "replaced" })] : undefined
    this.exchange.companions.connection(address)?.end(streamError(code, reason))
  }

  /** Applies a fault to the connection of a device. */
  misbehave(address: Address, misbehaviour: Misbehaviour): void {
    const connection = this.exchange.companions.connection(address)
    if (connection === undefined) return
    const stanza = node("sandbox-nonsense", { from: "unknown@nowhere" }, [node("nothing", { of: "value" })])
    if (misbehaviour === "silence") connection.isSilent = true
    if (misbehaviour === "unknown-stanza") connection.send(stanza)
    if (misbehaviour === "truncated-node") connection.sendBytes(encodeBinaryNode(stanza).subarray(0, -4))
    if (misbehaviour === "bad-frame") connection.sendRaw(frameOf(Buffer.alloc(64, 0xa5)))
    if (misbehaviour === "unanswered") {
      this.#unanswered.add(connection)
      connection.send(node("ib", { from: S_WHATSAPP_NET }, [node("dirty", { type: "groups" })]))
    }
  }

  close(): void {
    for (const connection of this.#connections) connection.drop()
    this.exchange.phones.close()
  }

  #opened(connection: Connection, handshake: Handshake): void {
    const { payload } = handshake
    const { primary, secondary, tertiary } = payload.userAgent?.appVersion ?? {}
    this.counters.versions.add([primary, secondary, tertiary].join("."))
    if (payload.devicePairingData) {
      this.pairing.begin(connection, handshake)
      return
    }
    const address = { number: String(payload.username ?? ""), device: payload.device ?? 0 }
    const companion = this.exchange.companions.get(address)
    const { faults } = this.exchange
    const refused = faults.take(address.number, "refuse-login")
    if (refused !== undefined) return connection.end(node("failure", { reason: String(refused) }))
    if (companion === undefined || !handshake.noisePublic.equals(Buffer.from(companion.noisePublic))) {
      return connection.end(node("failure", { reason: "401", location: "sandbox" }))
    }
    const error = faults.take(address.number, "stream-error")
    if (error !== undefined) return connection.end(streamError(error))
    this.#login(connection, companion)
  }

  #login(connection: Connection, companion: Companion): void {
    const previous = this.exchange.companions.connect(companion.address, connection)
    this.#companions.set(connection, companion)
    previous?.end(streamError(440, [node("conflict", { type: "replaced" })]))
    companion.logins += 1
    this.exchange.companions.changed(companion)
    connection.send(node("success", { t: String(this.#seconds()), lid: lidJid(companion.address) }))
  }

  #closed(connection: Connection): void {
    this.#connections.delete(connection)
    this.pairing.end(connection)
    const companion = this.#companions.get(connection)
    this.#companions.delete(connection)
    if (companion !== undefined) this.exchange.companions.disconnect(companion.address, connection)
  }

  async #received(connection: Connection, stanza: BinaryNode): Promise<void> {
    this.counters.stanzas.set(stanza.tag, (this.counters.stanzas.get(stanza.tag) ?? 0) + 1)
    const companion = this.#companions.get(connection)
    if (companion === undefined) return this.#receivedUnlinked(connection, stanza)
    switch (stanza.tag) {
      case "iq":
        return this.#query(connection, companion, stanza)
      case "message":
        return this.#message(connection, companion, stanza)
      case "receipt":
        return this.#receipt(connection, companion, stanza)
      case "ack":
        return this.#acknowledged(companion, stanza)
    }
  }

  /** A stanza of a client that is not linked yet. */
  #receivedUnlinked(connection: Connection, stanza: BinaryNode): void {
    if (stanza.tag !== "iq") return
    // A ping. Without an answer the client closes the connection after a minute.
    if (stanza.attrs["xmlns"] === "w:p") return connection.send(resultOf(stanza))
    if (child(stanza, "link_code_companion_reg") !== undefined) return this.pairing.linkCode(connection, stanza)
    if (this.pairing.signed(connection, stanza) !== undefined) connection.end(streamError(515))
  }

  async #query(connection: Connection, companion: Companion, query: BinaryNode): Promise<void> {
    if (query.attrs["type"] === "result" || query.attrs["type"] === "error") return
    if (query.attrs["xmlns"] === "w:g2" && this.#unanswered.has(connection)) return connection.drop()
    if (child(query, "remove-companion-device") !== undefined) {
      const address = addressOf(child(query, "remove-companion-device")?.attrs["jid"] ?? "", () => undefined)
      connection.send(this.#queries.answer(query, companion))
      if (address !== undefined && keyOf(address) === keyOf(companion.address)) this.logOut(address)
      return
    }
    connection.send(this.#queries.answer(query, companion))
    // `passive` with `active`: the client is ready for the queued stanzas.
    if (query.attrs["xmlns"] === "passive" && child(query, "active") !== undefined) await this.#ready(companion)
  }

  async #ready(companion: Companion): Promise<void> {
    this.exchange.companions.catchUp(companion.address)
    if (companion.hasHistory) return
    companion.hasHistory = true
    this.exchange.companions.changed(companion)
    await this.exchange.phones.get(companion.address.number)?.sendToCompanion(
      companion.address,
      historyFor(this.exchange.phones.all().map(({ number }) => number))
    )
  }

  #message(connection: Connection, companion: Companion, message: BinaryNode): void {
    const { faults } = this.exchange
    const { number } = companion.address
    if (faults.take(number, "no-ack") !== undefined) return
    if (faults.take(number, "lose-ack") !== undefined) return this.exchange.relay(companion, message)
    if (faults.take(number, "drop-before-ack") !== undefined) return connection.drop()
    const error = faults.take(number, "ack-error") ?? this.#errorOf(number, message)
    connection.send(ackOf(message, this.#seconds(), error))
    if (error !== undefined) return
    this.counters.acks += 1
    this.exchange.relay(companion, message)
    if (faults.take(number, "drop-after-ack") !== undefined) connection.drop()
  }

  /** Only members may write to a group. */
  #errorOf(number: string, { attrs: { to = "" } }: BinaryNode): number | undefined {
    return isGroupJid(to) && !this.exchange.membersOf(to).includes(number) ? 403 : undefined
  }

  #receipt(connection: Connection, companion: Companion, receipt: BinaryNode): void {
    connection.send(ackOf(receipt, this.#seconds()))
    // Any receipt acknowledges a message, also a retry receipt.
    for (const id of receiptIds(receipt)) {
      this.exchange.companions.acknowledge(companion.address, { tag: "message", id }, false)
    }
    this.exchange.relayReceipt(companion, receipt)
  }

  #acknowledged(companion: Companion, ack: BinaryNode): void {
    const { class: tag = "", error, id = "", participant, type } = ack.attrs
    this.exchange.companions.acknowledge(companion.address, { tag, id, participant, type }, error !== undefined)
  }

  #seconds(): number {
    return Math.floor(this.exchange.now() / 1000)
  }
}
