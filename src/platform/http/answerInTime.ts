import { toServerResponse } from "@effect/platform-node/NodeHttpServerRequest"
import { Duration, Effect, Stream } from "effect"
import { HttpBody, HttpServerRequest, HttpServerResponse } from "effect/http"

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
 * Streams the bytes of an answer. The request's scope lasts until they are written, so it can hold their memory. When the
 * client does not read them in time, the node closes the connection, so that a slow reader cannot hold the memory.
 */
export const answerInTime = Effect.fnUntraced(function*(answer: HttpServerResponse.HttpServerResponse) {
  if (answer.body._tag !== "Uint8Array") return answer
  const { body: bytes, contentType } = answer.body
  const response = toServerResponse(yield* HttpServerRequest.HttpServerRequest)
  const close = Effect.andThen(
    Effect.logDebug("closed the connection of a client that read too slowly"),
    Effect.sync(() => response.destroy())
  )
  yield* Effect.forkScoped(Effect.delay(close, timeToRead(bytes.length)))
  const pieces = Stream.fromIterable(piecesOf(bytes), { chunkSize: 1 })
  return HttpServerResponse.setBody(answer, HttpBody.stream(pieces, contentType, bytes.length))
})

/** The header that makes a browser save an answer as a file with this name (RFC 6266, RFC 8187). */
export const attachment = (name: string): string => {
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16)}`
  )
  return `attachment; filename*=UTF-8''${encoded}`
}
