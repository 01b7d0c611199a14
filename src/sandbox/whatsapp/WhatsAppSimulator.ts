import "../../platform/observability/muteLibsignal.ts"

import * as NodeHttp from "node:http"
import { WebSocketServer } from "ws"
import { Controls } from "./control/Controls.ts"
import { controlPath, ControlServer } from "./control/ControlServer.ts"
import { SimulatorState } from "./model/SimulatorState.ts"
import type { StateStorage } from "./model/SimulatorState.ts"
import { SimulatedServer } from "./server/SimulatedServer.ts"

/** How a simulator is started. */
export interface SimulatorOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** 0, the default, takes a free port. */
  readonly port?: number | undefined
  /** Without one, the simulator forgets everything with its end. */
  readonly storage?: StateStorage | undefined
  /** Numbers that get a phone as soon as somebody looks for them. Without it, only phones that were made exist. */
  readonly isThere?: ((number: string) => boolean) | undefined
}

interface Parts {
  readonly server: SimulatedServer
  readonly state: SimulatorState
  readonly controls: Controls
  readonly http: NodeHttp.Server
  readonly port: number
}

/** Larger than any stanza: 64 KiB of text, or a thousand pre-keys. */
const largestFrame = 4 * 1024 * 1024

const listen = (http: NodeHttp.Server, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    http.once("error", reject)
    http.listen(port, "127.0.0.1", () => {
      const address = http.address()
      resolve(typeof address === "object" && address !== null ? address.port : port)
    })
  })

/**
 * The simulated WhatsApp: a server for unmodified clients, a media host, virtual phones, and the verbs that move them.
 * It listens on the loopback interface only, for WebSockets and for media on the same port.
 */
export class WhatsAppSimulator {
  readonly port: number
  readonly controls: Controls
  readonly #server: SimulatedServer
  readonly #state: SimulatorState
  readonly #http: NodeHttp.Server

  private constructor(parts: Parts) {
    this.controls = parts.controls
    this.#server = parts.server
    this.#state = parts.state
    this.#http = parts.http
    this.port = parts.port
  }

  static async start({ isThere, now, port = 0, storage }: SimulatorOptions): Promise<WhatsAppSimulator> {
    const state = await SimulatorState.open(storage)
    const server = new SimulatedServer(state, { now, isThere: isThere ?? (() => false) })
    const { media } = server.exchange
    const controls = new Controls(server)
    const control = new ControlServer(controls)
    const http = NodeHttp.createServer((request, response) =>
      request.url?.startsWith(controlPath) ? void control.serve(request, response) : media.serve(request, response)
    )
    const sockets = new WebSocketServer({ server: http, path: "/ws/chat", maxPayload: largestFrame })
    sockets.on("connection", (socket) => server.accept(socket))
    const listening = await listen(http, port)
    media.listensAt(`127.0.0.1:${listening}`)
    return new WhatsAppSimulator({ server, state, controls, http, port: listening })
  }

  /** Where clients connect: `waWebSocketUrl` of Baileys. */
  get url(): string {
    return `ws://127.0.0.1:${this.port}/ws/chat`
  }

  /** Ends all lines and writes what is not written yet. */
  async stop(): Promise<void> {
    this.#server.close()
    this.#http.closeAllConnections()
    await new Promise((resolve) => this.#http.close(resolve))
    await this.#state.close()
  }
}
