import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer, Schema } from "effect"
import type { HttpServer } from "effect/http"
import type { Server } from "node:http"
import * as NodeNet from "node:net"

/** An address of this machine and a port; 0 picks a free one. */
export interface Place {
  readonly host: string
  readonly port: number
  /** The setting of the address. */
  readonly hostSetting: string
  /** A command that uses another port. */
  readonly commandFor: (port: number) => string
}

/** The place that two settings define. */
export const placeOf = (
  names: { readonly host: string; readonly port: string },
  { host, port }: { readonly host: string; readonly port: number }
): Place => ({ host, port, hostSetting: names.host, commandFor: (other) => `${names.port}=${other} npm start` })

/** Another process has the port, or this account may not listen there. */
export class ListenFailed extends Schema.TaggedError<ListenFailed>()("ListenFailed", {
  reason: Schema.String,
  host: Schema.String,
  port: Schema.Int,
  hostSetting: Schema.String,
  /** A command that uses another port. */
  remedy: Schema.String
}) {
  override get message() {
    const { host, hostSetting, port, remedy } = this
    if (this.reason === "EADDRINUSE") return `Port ${port} of ${host} is in use. Use another one: ${remedy}`
    if (this.reason === "EACCES") {
      return `This account may not listen on port ${port} of ${host}. Use another one: ${remedy}`
    }
    if (this.reason === "EADDRNOTAVAIL" || this.reason === "ENOTFOUND") {
      return `${host} is not an address of this machine. Set ${hostSetting} to one of its addresses, such as 127.0.0.1 or 0.0.0.0.`
    }
    return `Cannot listen on port ${port} of ${host} (${this.reason}). Use another one: ${remedy}`
  }
}

/** Listens for a moment. Returns the system's code when it cannot, such as `EADDRINUSE`. */
export const refusal = (host: string, port: number) =>
  Effect.callback<string | undefined>((resume) => {
    const server = NodeNet.createServer()
    server.once("error", (error: NodeJS.ErrnoException) => resume(Effect.succeed(error.code ?? "refused")))
    server.listen({ host, port }, () => server.close(() => resume(Effect.undefined)))
  })

const highest = 65_535

/** A port near the given one that is free; 0 if there is none. */
const freePortNear = Effect.fnUntraced(function*(host: string, port: number) {
  const first = Math.max(port, 1_024)
  for (let next = first + 1; next <= Math.min(first + 50, highest); next++) {
    if ((yield* refusal(host, next)) === undefined) return next
  }
  return 0
})

const codeOf = (cause: unknown) => cause instanceof Error && "code" in cause ? String(cause.code) : "refused"

/** Fails with the reason why a server cannot listen, and with what to do. */
export const listenFailed = Effect.fnUntraced(function*(place: Place, cause: unknown) {
  const { commandFor, host, hostSetting, port } = place
  const reason = codeOf(cause)
  const other = reason === "EADDRINUSE" || reason === "EACCES" ? yield* freePortNear(host, port) : 0
  return yield* new ListenFailed({ reason, host, port, hostSetting, remedy: commandFor(other) })
})

/** Fails with {@link ListenFailed} if this process cannot listen there, before it does other work. */
export const mustBeFree = Effect.fnUntraced(function*(place: Place) {
  const code = place.port === 0 ? undefined : yield* refusal(place.host, place.port)
  if (code !== undefined) return yield* listenFailed(place, Object.assign(new Error(code), { code }))
})

/**
 * Connections that may wait to be accepted. The kernel drops further ones, and their clients try again after one second,
 * then two, then four: a busy node would look seconds slower than it is. The kernel's own limit is mostly 4096 too.
 */
export const backlog = 4_096

/**
 * An HTTP server at an address. When its scope closes, it first finishes the requests in flight. With `reusePort` further
 * sockets of this account may listen there.
 */
export const httpServerAt = (make: () => Server, place: Place, reusePort = false): Layer.Layer<
  HttpServer.HttpServer | Layer.Success<typeof NodeHttpServer.layerHttpServices>,
  ListenFailed
> =>
  Layer.catchTag(
    NodeHttpServer.layer(make, {
      host: place.host,
      port: place.port,
      backlog,
      reusePort,
      gracefulShutdownTimeout: "10 seconds"
    }),
    "ServeError",
    ({ cause }) => Layer.effectContext(listenFailed(place, cause))
  )
