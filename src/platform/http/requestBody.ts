import { ByteSize, Effect } from "effect"
import { HttpIncomingMessage, HttpMethod, HttpServerRequest } from "effect/http"
import { isUtf8 } from "node:buffer"
import { InvalidJson, PayloadTooLarge, UnsupportedMediaType } from "./ApiErrors.ts"

const deepest = 32
const utf8 = new TextDecoder()

/** How deep arrays and objects nest in a JSON text, counted without building it. Brackets in strings do not count. */
export const jsonDepth = (text: string): number => {
  let depth = 0
  let most = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (inString) {
      if (char === 0x5c) i++
      else if (char === 0x22) inString = false
    } else if (char === 0x22) inString = true
    else if (char === 0x5b || char === 0x7b) most = Math.max(most, ++depth)
    else if (char === 0x5d || char === 0x7d) depth--
  }
  return most
}

const isJson = (headers: Readonly<Record<string, string | undefined>>) => {
  const [type = "", ...parameters] = (headers["content-type"] ?? "").toLowerCase().split(";").map((part) => part.trim())
  const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.slice(8).replaceAll("\"", "")
  return type === "application/json" && (charset === undefined || charset === "utf-8" || charset === "utf8") &&
    (headers["content-encoding"] ?? "identity") === "identity"
}

const hasBody = (request: HttpServerRequest.HttpServerRequest) =>
  HttpMethod.hasBody(request.method) &&
  (Number(request.headers["content-length"] ?? 0) > 0 || request.headers["transfer-encoding"] !== undefined)

/**
 * Reads the body of the request in hand once, within `limit` bytes; the decoder of the endpoint gets the same text.
 * No body is the empty text. Fails before a byte is buffered where the headers already say that it cannot be taken.
 */
export const readBody = Effect.fnUntraced(function*(limit: number) {
  const request = yield* HttpServerRequest.HttpServerRequest
  if (!hasBody(request)) return ""
  if (!isJson(request.headers)) return yield* new UnsupportedMediaType()
  const tooLarge = () => new PayloadTooLarge({ limit_bytes: limit })
  if (Number(request.headers["content-length"] ?? 0) > limit) return yield* tooLarge()
  const bytes = yield* request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.fromInputUnsafe(limit)),
    // A client that went away interrupts the request; what is left is a chunked body past the limit.
    Effect.mapError(tooLarge)
  )
  // A decoder would put U+FFFD in the place of what it cannot read, and that would be stored and sent.
  if (!isUtf8(bytes)) return yield* new InvalidJson()
  const text = utf8.decode(bytes)
  if (jsonDepth(text) > deepest) return yield* new InvalidJson()
  return text
})
