import { Effect, Schema } from "effect"
import * as NodeCrypto from "node:crypto"
import * as NodeHttp from "node:http"
import * as NodeHttps from "node:https"

/** No WebSocket is to be had at an address. */
export class NoWebSocket extends Schema.TaggedError<NoWebSocket>()("NoWebSocket", { reason: Schema.String }) {}

const patience = "10 seconds"

/** Opens a WebSocket (RFC 6455, 4.1) and closes it as soon as it is there. */
export const webSocketAnswers = (url: URL, origin: string): Effect.Effect<void, NoWebSocket> =>
  Effect.callback<void, NoWebSocket>((resume) => {
    const isSecure = url.protocol === "wss:"
    const failed = (reason: string) => resume(Effect.fail(new NoWebSocket({ reason })))
    const request = (isSecure ? NodeHttps : NodeHttp).request(url.href.replace(/^ws/, "http"), {
      headers: {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": NodeCrypto.randomBytes(16).toString("base64"),
        origin
      }
    })
    request.on("upgrade", (_response, socket) => {
      socket.destroy()
      resume(Effect.void)
    })
    request.on("response", ({ statusCode }) => {
      request.destroy()
      failed(`it answers with status ${statusCode ?? 0} instead of a WebSocket`)
    })
    request.on("error", ({ message }) => failed(message))
    request.end()
    return Effect.sync(() => request.destroy())
  }).pipe(
    Effect.timeoutOrElse({
      duration: patience,
      orElse: () => Effect.fail(new NoWebSocket({ reason: "it did not answer within 10 seconds" }))
    })
  )
