import { decodeBinaryNode, encodeBinaryNode } from "@whiskeysockets/baileys"
import type { BinaryNode, KeyPair } from "@whiskeysockets/baileys"
import type { RawData, WebSocket } from "ws"
import { frameOf, FrameReader } from "../wire/FrameReader.ts"
import { NoiseResponder } from "../wire/NoiseResponder.ts"
import type { Handshake, NoiseTransport } from "../wire/NoiseResponder.ts"

/** The keys and certificates of every handshake. */
export interface ServerIdentity {
  readonly noiseKey: KeyPair
  readonly certificates: Uint8Array
}

/** Handlers of a connection. Their calls never overlap. */
export interface ConnectionEvents {
  readonly opened: (connection: Connection, handshake: Handshake) => void | Promise<void>
  readonly received: (connection: Connection, node: BinaryNode) => void | Promise<void>
  readonly closed: (connection: Connection) => void
}

const bytesOf = (data: RawData): Buffer =>
  Array.isArray(data) ? Buffer.concat(data) : Buffer.isBuffer(data) ? data : Buffer.from(data)

/** One WebSocket of a client: a handshake, then encrypted binary nodes. Invalid bytes end it. */
export class Connection {
  readonly #socket: WebSocket
  readonly #events: ConnectionEvents
  readonly #reader = new FrameReader()
  readonly #noise: NoiseResponder
  #transport: NoiseTransport | undefined
  #greeted = false
  /** The server ended the connection and ignores all later bytes. */
  #isEnded = false
  #work: Promise<void> = Promise.resolve()
  /** A silent connection ignores all bytes and sends none, until the client closes it. */
  isSilent = false

  constructor(socket: WebSocket, identity: ServerIdentity, events: ConnectionEvents) {
    this.#socket = socket
    this.#events = events
    this.#noise = new NoiseResponder(identity.noiseKey, identity.certificates)
    socket.on("message", (data) => {
      this.#work = this.#work.then(() => this.#receive(bytesOf(data))).catch(() => this.drop())
    })
    socket.on("error", () => {})
    // Earlier stanzas come first: the last one may be a logout.
    socket.on("close", () => {
      this.#work = this.#work.then(() => events.closed(this))
    })
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN
  }

  /** Sends a node if the connection is open. */
  send(node: BinaryNode): void {
    if (this.#transport !== undefined) this.sendBytes(encodeBinaryNode(node))
  }

  /** Encrypts and sends bytes that need not be a valid node. */
  sendBytes(plain: Uint8Array): void {
    if (this.#transport !== undefined) this.sendRaw(frameOf(this.#transport.encrypt(plain)))
  }

  /** Sends bytes without encryption. */
  sendRaw(bytes: Uint8Array): void {
    if (this.isOpen && !this.isSilent) this.#socket.send(bytes)
  }

  /** Sends a last node and closes the connection. */
  end(node: BinaryNode): void {
    this.send(node)
    this.#isEnded = true
    this.#socket.close()
  }

  /** Drops the connection without a stanza. */
  drop(): void {
    this.#isEnded = true
    this.#socket.terminate()
  }

  async #receive(bytes: Buffer): Promise<void> {
    for (const frame of this.#reader.push(bytes)) {
      if (this.isSilent || this.#isEnded) return
      if (this.#transport !== undefined) {
        await this.#events.received(this, await decodeBinaryNode(this.#transport.decrypt(frame)))
      } else if (this.#greeted) {
        const handshake = this.#noise.finish(frame)
        this.#transport = handshake.transport
        await this.#events.opened(this, handshake)
      } else {
        this.#greeted = true
        this.sendRaw(frameOf(this.#noise.hello(frame)))
      }
    }
  }
}
