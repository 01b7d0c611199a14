import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { type Context, Effect, Layer, Schema } from "effect"
import type { Server } from "node:http"

class ListenFailed extends Schema.TaggedError<ListenFailed>()("ListenFailed", {
  host: Schema.String,
  port: Schema.Int,
  reason: Schema.String
}) {
  override get message() {
    return `Cannot listen on ${this.host}:${this.port} (${this.reason}). Set another PORT; 0 picks a free one.`
  }
}

const reasonOf = (cause: unknown) => cause instanceof Error && "code" in cause ? String(cause.code) : "refused"

/** An HTTP server at an address. When its scope closes, it first finishes the requests in flight. */
export const listenOn = (make: () => Server, { host, port }: { readonly host: string; readonly port: number }) => {
  const server = NodeHttpServer.layer(make, { host, port, gracefulShutdownTimeout: "10 seconds" })
  const failed = (reason: string): Effect.Effect<Context.Context<Layer.Success<typeof server>>, ListenFailed> =>
    Effect.fail(new ListenFailed({ host, port, reason }))
  return Layer.catchTag(server, "ServeError", ({ cause }) => Layer.effectContext(failed(reasonOf(cause))))
}
