import { toServerResponse } from "@effect/platform-node/NodeHttpServerRequest"
import { Duration, Effect, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"

/** What goes to the client at once; what it has not taken yet of that is all that there is beside the bytes themselves. */
const pieceSize = 64 * 1024

const mebibyte = 1024 * 1024

/** How long a client may take to read so many bytes: half a minute, and a second for each MiB. */
export const timeToRead = (bytes: number): Duration.Duration => Duration.seconds(30 + Math.ceil(bytes / mebibyte))

/** Copies, as a part would keep the whole in memory. */
function* piecesOf(bytes: Uint8Array) {
  for (let at = 0; at < bytes.length; at += pieceSize) yield bytes.slice(at, at + pieceSize)
}

/**
 * Answers with bytes that the request's scope has room for. A client that does not read them in time has its connection
 * cut, so that nobody holds the room for longer by reading slowly, or not at all.
 */
export const answerInTime = Effect.fnUntraced(function*(
  bytes: Uint8Array,
  options: { readonly contentType: string; readonly headers: Readonly<Record<string, string>> }
) {
  const response = toServerResponse(yield* HttpServerRequest.HttpServerRequest)
  const cut = Effect.andThen(
    Effect.logDebug("a client that has not read its answer in time was cut off"),
    Effect.sync(() => response.destroy())
  )
  yield* Effect.forkScoped(Effect.delay(cut, timeToRead(bytes.length)))
  return HttpServerResponse.stream(Stream.fromIterable(piecesOf(bytes), { chunkSize: 1 }), {
    ...options,
    contentLength: bytes.length
  })
})
