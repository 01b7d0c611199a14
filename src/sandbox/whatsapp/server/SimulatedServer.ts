import { Curve, encodeBinaryNode, S_WHATSAPP_NET } from "@whiskeysockets/baileys"
import type { BinaryNode, KeyPair } from "@whiskeysockets/baileys"
import type { WebSocket } from "ws"
import { addressOf, isGroupJid, keyOf, lidJid } from "../model/Address.ts"
import type { Address } from "../model/Address.ts"
import type { SimulatorState } from "../model/SimulatorState.ts"
import { receiptIds } from "../phones/Envelope.ts"
import { historyFor } from "../phones/historyFor.ts"
import { certificateChain } from "../wire/certificateChain.ts"
import { frameOf } from "../wire/FrameReader.ts"
import type { Handshake } from "../wire/NoiseResponder.ts"
import { child, node, resultOf } from "../wire/stanza.ts"
import type { Companion } from "./Companions.ts"
import { Connection } from "./Connection.ts"
import type { ServerIdentity } from "./Connection.ts"
import { ackOf, Exchange } from "./Exchange.ts"
import type { World } from "./Exchange.ts"
import { Pairing } from "./Pairing.ts"
import { Queries } from "./Queries.ts"

const streamError = (code: number, content?: ReadonlyArray<BinaryNode>): BinaryNode =>
  node("stream:error", { code: String(code) }, content === undefined ? undefined : [...content])

/**
 * What a server should never do:
 * - `silence`: the line stays open, and nothing comes over it any more
 * - `unknown-stanza`: a stanza that no client knows
 * - `truncated-node`: an encrypted frame that ends in the middle of a node
 * - `bad-frame`: a frame that was never encrypted
 * - `unanswered`: it says that groups have changed, and cuts the line at the question how
 */
export type Misbehaviour = "silence" | "unknown-stanza" | "truncated-node" | "bad-frame" | "unanswered"

/** What tests count of the server. */
export interface ServerCounters {
  /** Stanzas of clients, by tag. */
  readonly stanzas: Map<string, number>
  /** Messages of clients that were acknowledged without an error. */
  acks: number
  /** Connections that were ended because what came over them made no sense. */
  nonsense: number
  /** Of WhatsApp Web, as clients say. */
  readonly versions: Set<string>
}

/**
 * The simulated WhatsApp server: speaks the protocol to clients over WebSockets that are given to it, and conveys
 * between them and the virtual phones.
 */
export class SimulatedServer {
  readonly exchange: Exchange
  readonly pairing: Pairing
  readonly counters: ServerCounters = { stanzas: new Map(), acks: 0, nonsense: 0, versions: new Set() }
  readonly #queries: Queries
  readonly #keys: { readonly noise: KeyPair; readonly root: KeyPair }
  #identity: ServerIdentity | undefined
  readonly #lines = new Map<Connection, Companion>()
  readonly #connections = new Set<Connection>()
  /** Cut at the next question for groups. */
  readonly #unanswered = new WeakSet<Connection>()

  constructor(state: SimulatorState, world: World) {
    this.exchange = new Exchange(state, world)
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

  /** Serves a client. */
  accept(socket: WebSocket): void {
    // Made for the first client: two signatures in JavaScript, for which no start has to wait.
    this.#identity ??= { noiseKey: this.#keys.noise, certificates: certificateChain(this.#keys.root, this.#keys.noise) }
    this.#connections.add(
      new Connection(socket, this.#identity, {
        opened: (connection, handshake) => this.#opened(connection, handshake),
        received: (connection, stanza) => this.#received(connection, stanza),
        failed: () => this.counters.nonsense++,
        closed: (connection) => this.#closed(connection)
      })
    )
  }

  /** Takes a device off its phone, and says so to it when it is there. */
  logOut(address: Address): void {
    const line = this.exchange.companions.line(address)
    this.exchange.companions.remove(address)
    line?.end(streamError(401, [node("conflict", { type: "device_removed" })]))
  }

  /** Ends the line of a device with an error. */
  endWith(address: Address, code: number): void {
    const reason = code === 440 ? [node("conflict", { type: "replaced" })] : undefined
    this.exchange.companions.line(address)?.end(streamError(code, reason))
  }

  /** Does to a line what no server should do. */
  misbehave(address: Address, misbehaviour: Misbehaviour): void {
    const line = this.exchange.companions.line(address)
    if (line === undefined) return
    const stanza = node("sandbox-nonsense", { from: "nobody@nowhere" }, [node("nothing", { of: "value" })])
    if (misbehaviour === "silence") line.isSilent = true
    if (misbehaviour === "unknown-stanza") line.send(stanza)
    if (misbehaviour === "truncated-node") line.sendBytes(encodeBinaryNode(stanza).subarray(0, -4))
    if (misbehaviour === "bad-frame") line.sendRaw(frameOf(Buffer.alloc(64, 0xa5)))
    if (misbehaviour === "unanswered") {
      this.#unanswered.add(line)
      line.send(node("ib", { from: S_WHATSAPP_NET }, [node("dirty", { type: "groups" })]))
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
    this.#lines.set(connection, companion)
    previous?.end(streamError(440, [node("conflict", { type: "replaced" })]))
    companion.logins += 1
    this.exchange.companions.changed(companion)
    connection.send(node("success", { t: String(this.#seconds()), lid: lidJid(companion.address) }))
  }

  #closed(connection: Connection): void {
    this.#connections.delete(connection)
    this.pairing.end(connection)
    const companion = this.#lines.get(connection)
    this.#lines.delete(connection)
    if (companion !== undefined) this.exchange.companions.disconnect(companion.address, connection)
  }

  async #received(connection: Connection, stanza: BinaryNode): Promise<void> {
    this.counters.stanzas.set(stanza.tag, (this.counters.stanzas.get(stanza.tag) ?? 0) + 1)
    const companion = this.#lines.get(connection)
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

  /** A client that is being paired. */
  #receivedUnlinked(connection: Connection, stanza: BinaryNode): void {
    if (stanza.tag !== "iq") return
    // Its ping, without whose answer it gives the connection up after a minute.
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
    // The client is ready for what waits when it says so: `passive` with `active`.
    if (query.attrs["xmlns"] === "passive" && child(query, "active") !== undefined) await this.#ready(companion)
  }

  async #ready(companion: Companion): Promise<void> {
    this.exchange.companions.catchUp(companion.address)
    if (companion.welcomed) return
    companion.welcomed = true
    this.exchange.companions.changed(companion)
    await this.exchange.phones.get(companion.address.number)?.sendToCompanion(
      companion.address,
      historyFor(this.exchange.phones)
    )
  }

  #message(connection: Connection, companion: Companion, message: BinaryNode): void {
    const { faults } = this.exchange
    const { number } = companion.address
    if (faults.take(number, "no-ack") !== undefined) return
    if (faults.take(number, "lose-ack") !== undefined) return this.exchange.convey(companion, message)
    if (faults.take(number, "drop-before-ack") !== undefined) return connection.drop()
    const error = faults.take(number, "ack-error") ?? this.#errorOf(number, message)
    connection.send(ackOf(message, this.#seconds(), error))
    if (error !== undefined) return
    this.counters.acks += 1
    this.exchange.convey(companion, message)
    if (faults.take(number, "drop-after-ack") !== undefined) connection.drop()
  }

  /** Only members write to a group. */
  #errorOf(number: string, { attrs: { to = "" } }: BinaryNode): number | undefined {
    return isGroupJid(to) && !this.exchange.membersOf(to).includes(number) ? 403 : undefined
  }

  #receipt(connection: Connection, companion: Companion, receipt: BinaryNode): void {
    connection.send(ackOf(receipt, this.#seconds()))
    // A client's first word about a message is its acknowledgement, be it that the message was not understood.
    for (const id of receiptIds(receipt)) {
      this.exchange.companions.acknowledge(companion.address, { tag: "message", id }, false)
    }
    this.exchange.passOn(companion, receipt)
  }

  #acknowledged(companion: Companion, ack: BinaryNode): void {
    const { class: tag = "", error, id = "", participant, type } = ack.attrs
    this.exchange.companions.acknowledge(companion.address, { tag, id, participant, type }, error !== undefined)
  }

  #seconds(): number {
    return Math.floor(this.exchange.now() / 1000)
  }
}
