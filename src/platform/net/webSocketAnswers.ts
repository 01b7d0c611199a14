import { Effect, Schema } from "effect"
import * as NodeCrypto from "node:crypto"
import * as NodeHttp from "node:http"
import * as NodeHttps from "node:https"

/** An address does not offer a WebSocket. */
export class WebSocketUnavailable
  extends Schema.TaggedError<WebSocketUnavailable>()("WebSocketUnavailable", { reason: Schema.String })
{}

const openTimeout = "10 seconds"

/** Opens a WebSocket (RFC 6455 4.1) and closes it at once. */
export const webSocketAnswers = (url: URL, origin: string): Effect.Effect<void, WebSocketUnavailable> =>
  Effect.callback<void, WebSocketUnavailable>((resume) => {
    const isSecure = url.protocol === "wss:"
    const failed = (reason: string) => resume(Effect.fail(new WebSocketUnavailable({ reason })))
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
      duration: openTimeout,
      orElse: () => Effect.fail(new WebSocketUnavailable({ reason: "it did not answer within 10 seconds" }))
    })
  )
