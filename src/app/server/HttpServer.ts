import { Context, DateTime, Effect, Layer, Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"
import { createServer, IncomingMessage, type Server, ServerResponse, STATUS_CODES } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import { AppConfig } from "../../platform/config/AppConfig.ts"
import { uuid7 } from "../../platform/crypto/ids.ts"
import { docUrl, wireOf } from "../../platform/http/ApiError.ts"
import { RequestRefused, ServiceUnavailable } from "../../platform/http/ApiErrors.ts"
import { publicBase } from "../../platform/http/PublicUrl.ts"
import { defaultHeaders } from "../../platform/http/ready/defaultHeaders.ts"
import { Draining } from "../../platform/http/ready/Draining.ts"
import { QuickAnswers } from "../../platform/http/ready/QuickAnswers.ts"
import { observeRequest } from "../../platform/http/ready/requestMetrics.ts"
import { acceptInParallel, sharesPort } from "../../platform/net/acceptInParallel.ts"
import { closeAfterGrace } from "../../platform/net/closeAfterGrace.ts"
import { backlog, httpServerAt, mustBeFree, placeOf } from "../../platform/net/Listening.ts"
import { Overload } from "../../platform/work/Overload.ts"
import { fromDateTime } from "../../values/Timestamp.ts"
import { limitConnections } from "./Connections.ts"

/** Where HTTP listens. */
export const httpPlace = (config: AppConfig["Service"]) => placeOf({ host: "HOST", port: "PORT" }, config)

/** The documented answer to a request that is refused before the routes see it. */
const refusal = (base: string, error: RequestRefused | ServiceUnavailable) => {
  const now = DateTime.nowUnsafe()
  const requestId = uuid7(DateTime.toEpochMillis(now))
  const isBusy = error._tag === "ServiceUnavailable"
  const { code, type } = wireOf(isBusy ? ServiceUnavailable : RequestRefused)
  const answer = {
    success: false,
    error: { type, code, message: error.message, doc_url: docUrl(base, type) },
    meta: { request_id: requestId, timestamp: fromDateTime(now) }
  }
  const body = `${JSON.stringify(answer)}\n`
  const headers = {
    ...defaultHeaders,
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
    "x-request-id": requestId,
    ...(isBusy ? { "retry-after": "2" } : {})
  }
  return { headers, body }
}

const refuse = (socket: Duplex, status: number, { body, headers }: ReturnType<typeof refusal>) => {
  const lines = Object.entries({ ...headers, connection: "close" }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`)
}

/** Answers a connection that is one too many. It closes at once, before its request is read. */
const refuseConnection = (base: string) => (socket: Socket) => {
  refuse(socket, 503, refusal(base, new ServiceUnavailable()))
  socket.destroySoon()
}

const statuses: Readonly<Record<string, number>> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }

const onClientError = (base: string) => (error: NodeJS.ErrnoException, socket: Duplex) => {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy()
  refuse(socket, statuses[error.code ?? ""] ?? 400, refusal(base, new RequestRefused()))
}

/** Connections that have carried a request, idle ones included. */
export class OpenConnections extends Context.Service<OpenConnections, {
  readonly count: Effect.Effect<number>
}>()("messaging-service/app/server/HttpServer/OpenConnections") {}

/** The port opens while the node still starts. Requests that arrive meanwhile wait until the routes are ready. */
const holdEarlyRequests = (server: Server) => {
  const early: Array<() => void> = []
  const holders = ["request", "checkContinue"].map((event) => {
    const hold = (request: IncomingMessage, response: ServerResponse) =>
      void early.push(() => {
        if (!response.closed) server.emit(event, request, response)
      })
    return { event, hold }
  })
  for (const { event, hold } of holders) server.on(event, hold)
  const answer = (event: string | symbol) => {
    if (event !== "request") return
    server.off("newListener", answer)
    for (const holder of holders) server.off(holder.event, holder.hold)
    // Node adds the listener after this event.
    setImmediate(() => {
      for (const emit of early) emit()
    })
  }
  server.on("newListener", answer)
}

/** Answers a request, unless it is one for the routes. */
type Send = (request: IncomingMessage, response: ServerResponse) => boolean

const overloaded = new ServiceUnavailable()

/**
 * Refuses messages while the node is overloaded. The pipeline does the same, at several times the cost, which an overloaded
 * node would take from the messages that it has accepted.
 */
const makeRefuser = Effect.gen(function*() {
  const config = yield* AppConfig
  const base = publicBase(config)
  const overload = yield* Overload
  const draining = yield* Draining
  const context = yield* Effect.context<never>()
  const send: Send = ({ headers, method = "", url = "" }, response) => {
    if (method !== "POST" || headers.host === undefined || draining.hasBegun()) return false
    const [path = ""] = url.split("?", 1)
    if (!overload.refuses({ method, path })) return false
    const { body, headers: answered } = refusal(base, overloaded)
    response.writeHead(503, answered).end(body)
    observeRequest(context, { method, status: 503, millis: 0 })
    return true
  }
  // With a collector, the routes create the span of each request.
  return config.otlpEndpoint === undefined ? send : () => false
})

/** The other listeners of a request see it only without a quick answer. */
const answerQuickly = (server: Server, send: Send) => {
  const emit: (event: string, ...args: ReadonlyArray<unknown>) => boolean = server.emit.bind(server)
  const emitOthers = (event: string, ...args: ReadonlyArray<unknown>) => {
    const [request, response] = args
    const isAnswered = event === "request" && request instanceof IncomingMessage &&
      response instanceof ServerResponse && send(request, response)
    return isAnswered || emit(event, ...args)
  }
  Object.assign(server, { emit: emitOthers })
}

/**
 * Node writes and ends a whole answer in one step, unless it has to check the length of the body, which the library has just
 * counted.
 */
class Answer extends ServerResponse {
  override end(chunk?: unknown, encoding?: unknown, done?: unknown): this {
    if (chunk !== undefined) this.strictContentLength = false
    return Reflect.apply(super.end, this, [chunk, encoding, done])
  }
}

const make = (config: AppConfig["Service"], send: Send) => {
  const { httpConnections, httpConnectionsPerAddress, trustedProxies = [] } = config
  const base = publicBase(config)
  const server = createServer({
    ServerResponse: Answer,
    maxHeaderSize: 16 * 1024,
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    keepAliveTimeout: 65_000,
    connectionsCheckingInterval: 5_000,
    // Node limits the time of no request that it hands over with its connection. No route wants that. Node before 24.9
    // ignores this.
    shouldUpgradeCallback: () => false,
    // The request pipeline refuses a request without Host, with a response body.
    requireHostHeader: false
  })
  const noteRequest = limitConnections(server, {
    total: httpConnections,
    perAddress: httpConnectionsPerAddress,
    isProxy: (address) =>
      Result.match(NetAddress.ipFromString(address), {
        onFailure: () => false,
        onSuccess: (ip) => trustedProxies.some((network) => IpNetwork.contains(network, NetAddress.toCanonical(ip)))
      }),
    refuse: refuseConnection(base)
  })
  answerQuickly(server, (request, response) => {
    const isAnswered = send(request, response)
    if (isAnswered) noteRequest(request.socket)
    return isAnswered
  })
  holdEarlyRequests(server)
  closeAfterGrace(server, sharesPort ? acceptInParallel(server, backlog) : [])
  server.on("clientError", onClientError(base))
  server.on("connect", (_request, socket) => refuse(socket, 400, refusal(base, new RequestRefused())))
  server.on("checkExpectation", (_request, response) => {
    const { body, headers } = refusal(base, new RequestRefused())
    response.writeHead(417, { ...headers, connection: "close" }).end(body)
  })
  return server
}

/** Node's HTTP server on HOST and PORT. On close it first finishes the requests in flight. */
export const HttpServerLayer = Layer.unwrap(Effect.gen(function*() {
  const config = yield* AppConfig
  const place = httpPlace(config)
  // Two nodes that start at the same time would share a port that both have found free, so this is the last check.
  if (sharesPort) yield* mustBeFree(place)
  const quick = yield* QuickAnswers
  const sendRefusal = yield* makeRefuser
  const send: Send = (request, response) => quick.send(request, response) || sendRefusal(request, response)
  const sockets = new Set<Socket>()
  const listening = () =>
    make(config, send).on("connection", (socket: Socket) => {
      sockets.add(socket)
      socket.once("close", () => sockets.delete(socket))
    })
  const count = Effect.sync(() => [...sockets].filter(({ bytesRead }) => bytesRead > 0).length)
  return Layer.merge(httpServerAt(listening, place, sharesPort), Layer.succeed(OpenConnections, { count }))
}))
