import { Effect, type Scope } from "effect"
import * as NodeHttp from "node:http"
import * as NodeHttps from "node:https"
import type * as NodeNet from "node:net"
import { Changes } from "./Changes.ts"

/** One received request. */
export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The bytes that were signed. */
  readonly body: Buffer
  readonly arrivedAtMillis: number
}

/**
 * The receiver's reaction to a request: a status, a whole answer (possibly after a pause), `hang` (never answers),
 * `reset` (breaks the connection), `drip` (sends the head, then a byte at a time forever), `flood` (an endless body).
 */
export type ReceiverAnswer =
  | number
  | {
    readonly status: number
    readonly headers?: Readonly<Record<string, string>>
    readonly body?: string | Uint8Array
    readonly afterMillis?: number
  }
  | "hang"
  | "reset"
  | "drip"
  | "flood"

/** Answers in order, the last one repeated; or a function of the request and its number (0 is the first). */
export type ReceiverScript =
  | ReadonlyArray<ReceiverAnswer>
  | ((request: ReceivedRequest, index: number) => ReceiverAnswer)

export interface WebhookReceiverOptions {
  readonly script?: ReceiverScript
  /** 127.0.0.1 by default. */
  readonly host?: string
  /** A free one by default. */
  readonly port?: number
  /** PEM key and certificate for https. */
  readonly tls?: { readonly key: string; readonly cert: string }
  /** Receives all raw bytes; nothing is answered then. */
  readonly onBytes?: (bytes: Buffer) => void
}

export interface WebhookReceiver {
  /** Base URL with the host localhost, which development mode can reach. */
  readonly url: string
  readonly port: number
  readonly requests: ReadonlyArray<ReceivedRequest>
  /** Number of TCP connections so far. */
  readonly connections: () => number
  /** Number of open TCP connections. */
  readonly openConnections: () => number
  /** Completes once no TCP connection is open. */
  readonly disconnected: Effect.Effect<void>
  /** Replaces the script; its first answer goes to the next request. */
  readonly answer: (script: ReceiverScript) => void
  /** All requests, once there are at least `n`. */
  readonly received: (n: number, within?: `${number} seconds`) => Effect.Effect<ReadonlyArray<ReceivedRequest>>
}

const readBody = (incoming: NodeHttp.IncomingMessage, onBody: (body: Buffer) => void): void => {
  const chunks: Array<Buffer> = []
  incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
  incoming.on("end", () => onBody(Buffer.concat(chunks)))
}

const pour = (response: NodeHttp.ServerResponse): void => {
  const block = Buffer.alloc(64 * 1024, "x")
  while (!response.destroyed && response.write(block));
  if (!response.destroyed) response.once("drain", () => pour(response))
}

const drip = (response: NodeHttp.ServerResponse): void => {
  response.writeHead(200).write("x")
  const timer = setInterval(() => response.write("x"), 20)
  response.once("close", () => clearInterval(timer))
}

const perform = (answer: ReceiverAnswer, response: NodeHttp.ServerResponse): void => {
  if (answer === "hang") return
  if (answer === "drip") return drip(response)
  if (answer === "flood") return pour(response.writeHead(200))
  if (answer === "reset") return void response.socket?.resetAndDestroy()
  if (typeof answer === "number") return void response.writeHead(answer).end()
  const send = () => response.writeHead(answer.status, answer.headers).end(answer.body ?? "")
  if (answer.afterMillis === undefined) send()
  else setTimeout(send, answer.afterMillis).unref()
}

class Recorder {
  readonly requests: Array<ReceivedRequest> = []
  readonly open = new Set<NodeNet.Socket>()
  readonly changes = new Changes(() => ({
    connections: this.open.size,
    requests: this.requests.map(({ body, method, path }) => `${method} ${path} ${body.toString("utf8").slice(0, 200)}`)
  }))
  #script: ReceiverScript
  #from = 0

  constructor(script: ReceiverScript) {
    this.#script = script
  }

  answer(script: ReceiverScript): void {
    this.#script = script
    this.#from = this.requests.length
  }

  handle(incoming: NodeHttp.IncomingMessage, response: NodeHttp.ServerResponse): void {
    const arrivedAtMillis = performance.timeOrigin + performance.now()
    readBody(incoming, (body) => {
      const headers = Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]))
      const request = { method: incoming.method ?? "", path: incoming.url ?? "", headers, body, arrivedAtMillis }
      const index = this.requests.push(request) - 1 - this.#from
      const script = this.#script
      perform(typeof script === "function" ? script(request, index) : script[index] ?? script.at(-1) ?? 200, response)
      this.changes.notify()
    })
  }

  received(n: number, within?: `${number} seconds`): Effect.Effect<ReadonlyArray<ReceivedRequest>> {
    return Effect.map(this.changes.until(() => this.requests.length >= n, within), () => [...this.requests])
  }
}

const listen = (server: NodeHttp.Server | NodeHttps.Server, { host = "127.0.0.1", port = 0 }: WebhookReceiverOptions) =>
  Effect.callback<number>((resume) => {
    server.listen(port, host, () => {
      const address = server.address()
      resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

const close = (server: NodeHttp.Server | NodeHttps.Server) =>
  Effect.callback<void>((resume) => {
    server.close(() => resume(Effect.void))
    server.closeAllConnections()
  })

/** A real HTTP server for webhooks that records requests and answers by a script; closed with the scope. */
export const makeWebhookReceiver = (
  options: WebhookReceiverOptions = {}
): Effect.Effect<WebhookReceiver, never, Scope.Scope> =>
  Effect.gen(function*() {
    const recorder = new Recorder(options.script ?? [200])
    let connections = 0
    const onRequest: NodeHttp.RequestListener = (incoming, response) => recorder.handle(incoming, response)
    const server = yield* Effect.acquireRelease(
      Effect.sync(() =>
        options.tls === undefined ? NodeHttp.createServer(onRequest) : NodeHttps.createServer(options.tls, onRequest)
      ),
      close
    )
    server.on("connection", (socket: NodeNet.Socket) => {
      connections++
      recorder.open.add(socket)
      if (options.onBytes !== undefined) socket.removeAllListeners("data").on("data", options.onBytes)
      socket.once("close", () => {
        recorder.open.delete(socket)
        recorder.changes.notify()
      })
    })
    const port = yield* listen(server, options)
    return {
      url: `${options.tls === undefined ? "http" : "https"}://localhost:${port}`,
      port,
      requests: recorder.requests,
      connections: () => connections,
      openConnections: () => recorder.open.size,
      disconnected: recorder.changes.until(() => recorder.open.size === 0),
      answer: (script) => recorder.answer(script),
      received: (n, within) => recorder.received(n, within)
    }
  })
