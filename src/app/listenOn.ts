import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { type Context, Effect, Layer, Schema } from "effect"
import type { Server } from "node:http"

/** The address cannot be listened on. */
class ListenFailed extends Schema.TaggedError<ListenFailed>()("ListenFailed", {
  host: Schema.String,
  port: Schema.Int,
  reason: Schema.String
}) {
  override get message() {
    return `Cannot listen on ${this.host}:${this.port} (${this.reason}). Take another port: 0 takes any that is free.`
  }
}

const reasonOf = (cause: unknown) => cause instanceof Error && "code" in cause ? String(cause.code) : "refused"

/** An HTTP server at an address; when its scope closes, what is in flight is answered first. */
export const listenOn = (make: () => Server, { host, port }: { readonly host: string; readonly port: number }) => {
  const server = NodeHttpServer.layer(make, { host, port, gracefulShutdownTimeout: "10 seconds" })
  const failed = (reason: string): Effect.Effect<Context.Context<Layer.Success<typeof server>>, ListenFailed> =>
    Effect.fail(new ListenFailed({ host, port, reason }))
  return Layer.catchTag(server, "ServeError", ({ cause }) => Layer.effectContext(failed(reasonOf(cause))))
}
