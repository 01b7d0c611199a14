import { toServerResponse } from "@effect/platform-node/NodeHttpServerRequest"
import { Duration, Effect, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"

/** Bytes that are written at once. Only one piece is copied at a time, beside the bytes themselves. */
const pieceSize = 64 * 1024

const mebibyte = 1024 * 1024

/** How long a client may take to read an answer: 30 seconds, and one second per MiB. */
export const timeToRead = (bytes: number): Duration.Duration => Duration.seconds(30 + Math.ceil(bytes / mebibyte))

/** Copies each piece, because a view would keep the whole buffer in memory. */
function* piecesOf(bytes: Uint8Array) {
  for (let at = 0; at < bytes.length; at += pieceSize) yield bytes.slice(at, at + pieceSize)
}

/**
 * Streams bytes that the request's scope has reserved memory for. When the client does not read them in time, the node
 * closes the connection, so that a slow reader cannot hold the memory.
 */
export const answerInTime = Effect.fnUntraced(function*(
  bytes: Uint8Array,
  options: { readonly contentType: string; readonly headers: Readonly<Record<string, string>> }
) {
  const response = toServerResponse(yield* HttpServerRequest.HttpServerRequest)
  const close = Effect.andThen(
    Effect.logDebug("closed the connection of a client that read too slowly"),
    Effect.sync(() => response.destroy())
  )
  yield* Effect.forkScoped(Effect.delay(close, timeToRead(bytes.length)))
  return HttpServerResponse.stream(Stream.fromIterable(piecesOf(bytes), { chunkSize: 1 }), {
    ...options,
    contentLength: bytes.length
  })
})
