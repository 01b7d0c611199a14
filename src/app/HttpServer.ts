import { NodeHttpServer } from "@effect/platform-node"
import { type Context, DateTime, Effect, Layer, Schema } from "effect"
import { createServer, STATUS_CODES } from "node:http"
import type { Socket } from "node:net"
import { AppConfig } from "../platform/config/AppConfig.ts"
import { uuid7 } from "../platform/crypto/uuid7.ts"
import { fromDateTime } from "../values/Timestamp.ts"

/** The address cannot be listened on. */
export class ListenFailed extends Schema.TaggedError<ListenFailed>()("ListenFailed", {
  host: Schema.String,
  port: Schema.Int,
  reason: Schema.String
}) {
  override get message() {
    return `Cannot listen on ${this.host}:${this.port} (${this.reason}). Set PORT to a free one, or to 0 to take any.`
  }
}

const refusals: Readonly<Record<string, number>> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 }

/** What Node refuses before any route sees it has the documented body as well. */
const refuse = (error: NodeJS.ErrnoException, socket: Socket) => {
  if (!socket.writable || error.code === "ECONNRESET") return void socket.destroy()
  const status = refusals[error.code ?? ""] ?? 400
  const now = DateTime.nowUnsafe()
  const requestId = uuid7(DateTime.toEpochMillis(now))
  const body = JSON.stringify({
    success: false,
    error: { type: "bad_request", code: 4001, message: "The request could not be read." },
    meta: { request_id: requestId, timestamp: fromDateTime(now) }
  })
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nX-Request-Id: ${requestId}\r\n`
      + `Connection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  )
}

const make = () => {
  const server = createServer({
    maxHeaderSize: 16 * 1024,
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    keepAliveTimeout: 65_000,
    connectionsCheckingInterval: 5_000
  })
  server.on("clientError", refuse)
  return server
}

const reasonOf = (cause: unknown) => cause instanceof Error && "code" in cause ? String(cause.code) : "refused"

/** Node's HTTP server on HOST and PORT; when it closes, what is in flight is answered first. */
export const HttpServerLayer = Layer.unwrap(Effect.map(AppConfig, ({ host, port }) => {
  const server = NodeHttpServer.layer(make, { host, port, gracefulShutdownTimeout: "10 seconds" })
  const failed = (reason: string): Effect.Effect<Context.Context<Layer.Success<typeof server>>, ListenFailed> =>
    Effect.fail(new ListenFailed({ host, port, reason }))
  return Layer.catchTag(server, "ServeError", ({ cause }) => Layer.effectContext(failed(reasonOf(cause))))
}))
