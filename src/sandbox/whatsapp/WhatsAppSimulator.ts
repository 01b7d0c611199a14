import "../../platform/observability/muteLibsignal.ts"

import * as NodeHttp from "node:http"
import { WebSocketServer } from "ws"
import { Controls } from "./control/Controls.ts"
import { controlPath, ControlServer } from "./control/ControlServer.ts"
import { SimulatorState } from "./model/SimulatorState.ts"
import type { StateStorage } from "./model/SimulatorState.ts"
import { SimulatedServer } from "./server/SimulatedServer.ts"

/** Options of a simulator. */
export interface SimulatorOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** 0, the default, picks a free port. */
  readonly port?: number | undefined
  /** Without a storage, the simulator loses its state when it stops. */
  readonly storage?: StateStorage | undefined
  /** Whether a number gets a phone when a client looks it up. The default is never. */
  readonly createsPhone?: ((number: string) => boolean) | undefined
}

interface Parts {
  readonly server: SimulatedServer
  readonly state: SimulatorState
  readonly controls: Controls
  readonly http: NodeHttp.Server
  readonly port: number
}

/** Larger than any stanza, such as 64 KiB of text or a thousand pre-keys. */
const maxFrameBytes = 4 * 1024 * 1024

const listen = (http: NodeHttp.Server, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    http.once("error", reject)
    http.listen(port, "127.0.0.1", () => {
      const address = http.address()
      resolve(typeof address === "object" && address !== null ? address.port : port)
    })
  })

/**
 * The simulated WhatsApp: a server for unmodified clients, a media host, virtual phones, and verbs that control them.
 * It listens on one port of the loopback interface, for WebSockets, media and verbs.
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

  static async start({ createsPhone, now, port = 0, storage }: SimulatorOptions): Promise<WhatsAppSimulator> {
    const state = await SimulatorState.open(storage)
    const server = new SimulatedServer(state, { now, createsPhone: createsPhone ?? (() => false) })
    const { media } = server.exchange
    const controls = new Controls(server)
    const control = new ControlServer(controls)
    const http = NodeHttp.createServer((request, response) =>
      request.url?.startsWith(controlPath) ? void control.serve(request, response) : media.serve(request, response)
    )
    const sockets = new WebSocketServer({ server: http, path: "/ws/chat", maxPayload: maxFrameBytes })
    sockets.on("connection", (socket) => server.accept(socket))
    const boundPort = await listen(http, port)
    media.setHost(`127.0.0.1:${boundPort}`)
    return new WhatsAppSimulator({ server, state, controls, http, port: boundPort })
  }

  /** The address for clients: `waWebSocketUrl` of Baileys. */
  get url(): string {
    return `ws://127.0.0.1:${this.port}/ws/chat`
  }

  /** Closes all connections and writes the last changes. */
  async stop(): Promise<void> {
    this.#server.close()
    this.#http.closeAllConnections()
    await new Promise((resolve) => this.#http.close(resolve))
    await this.#state.close()
  }
}
