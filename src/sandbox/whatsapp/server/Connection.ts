import { decodeBinaryNode, encodeBinaryNode } from "@whiskeysockets/baileys"
import type { BinaryNode, KeyPair } from "@whiskeysockets/baileys"
import type { RawData, WebSocket } from "ws"
import { frameOf, FrameReader } from "../wire/FrameReader.ts"
import { NoiseResponder } from "../wire/NoiseResponder.ts"
import type { Handshake, NoiseTransport } from "../wire/NoiseResponder.ts"

/** What the server shows of itself in every handshake. */
export interface ServerIdentity {
  readonly noiseKey: KeyPair
  readonly certificates: Uint8Array
}

/** Who is told what comes over a connection; calls of one connection never overlap. */
export interface ConnectionEvents {
  readonly opened: (connection: Connection, handshake: Handshake) => void | Promise<void>
  readonly received: (connection: Connection, node: BinaryNode) => void | Promise<void>
  /** What came made no sense, and has ended the connection. */
  readonly failed: (connection: Connection) => void
  readonly closed: (connection: Connection) => void
}

const bytesOf = (data: RawData): Buffer =>
  Array.isArray(data) ? Buffer.concat(data) : Buffer.isBuffer(data) ? data : Buffer.from(data)

/** One WebSocket of a client: handshake first, then encrypted binary nodes. Bytes that make no sense end it. */
export class Connection {
  readonly #socket: WebSocket
  readonly #events: ConnectionEvents
  readonly #reader = new FrameReader()
  readonly #noise: NoiseResponder
  #transport: NoiseTransport | undefined
  #greeted = false
  /** The server has ended it, and hears nothing of it any more. */
  #isOver = false
  #work: Promise<void> = Promise.resolve()
  /** A silent connection hears and answers nothing; only its closing is noticed. */
  isSilent = false

  constructor(socket: WebSocket, identity: ServerIdentity, events: ConnectionEvents) {
    this.#socket = socket
    this.#events = events
    this.#noise = new NoiseResponder(identity.noiseKey, identity.certificates)
    socket.on("message", (data) => {
      this.#work = this.#work.then(() => this.#receive(bytesOf(data))).catch(() => {
        this.drop()
        events.failed(this)
      })
    })
    socket.on("error", () => {})
    // What came before the end is heard first: the last word of a client may be that it logs out.
    socket.on("close", () => {
      this.#work = this.#work.then(() => events.closed(this))
    })
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN
  }

  /** Sends a node, if the client is still there. */
  send(node: BinaryNode): void {
    if (this.#transport !== undefined) this.sendBytes(encodeBinaryNode(node))
  }

  /** Sends encrypted bytes that need not be a node: for a server that misbehaves. */
  sendBytes(plain: Uint8Array): void {
    if (this.#transport !== undefined) this.sendRaw(frameOf(this.#transport.encrypt(plain)))
  }

  /** Sends bytes past the encryption: for a server that misbehaves. */
  sendRaw(bytes: Uint8Array): void {
    if (this.isOpen && !this.isSilent) this.#socket.send(bytes)
  }

  /** Says a last word and closes in order. */
  end(node: BinaryNode): void {
    this.send(node)
    this.#isOver = true
    this.#socket.close()
  }

  /** Cuts the line without a word. */
  drop(): void {
    this.#isOver = true
    this.#socket.terminate()
  }

  async #receive(bytes: Buffer): Promise<void> {
    for (const frame of this.#reader.push(bytes)) {
      if (this.isSilent || this.#isOver) return
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
