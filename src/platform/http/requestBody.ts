import { ByteSize, Effect } from "effect"
import { HttpIncomingMessage, HttpMethod, HttpServerRequest } from "effect/http"
import { isUtf8 } from "node:buffer"
import { InvalidJson, PayloadTooLarge, UnsupportedMediaType, ValidationFailed } from "./ApiErrors.ts"

const maxDepth = 32

/**
 * Enough for 500 recipients with nearly 200 variables each. Validation takes up to 25 microseconds per value; a body of
 * 10 MiB can hold millions of values, which would block the node for longer than its shard locks last.
 */
const maxValues = 100_000

const utf8 = new TextDecoder()

/**
 * The nesting depth of a JSON text and an upper bound of its number of values (empty arrays and objects count twice),
 * without parsing it. Brackets and commas in strings do not count.
 */
export const jsonShape = (text: string): { readonly depth: number; readonly values: number } => {
  let depth = 0
  let deep = 0
  let values = 1
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (inString) {
      if (char === 0x5c) i++
      else if (char === 0x22) inString = false
    } else if (char === 0x22) inString = true
    else if (char === 0x2c) values++
    else if (char === 0x5b || char === 0x7b) {
      values++
      deep = Math.max(deep, ++depth)
    } else if (char === 0x5d || char === 0x7d) depth--
  }
  return { depth: deep, values }
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
 * Reads the body of the current request once, up to `limit` bytes; the decoder of the endpoint gets the same text. A
 * missing body is the empty text. Fails before it buffers a byte when the headers already rule the body out.
 */
export const readBody = Effect.fnUntraced(function*(limit: number) {
  const request = yield* HttpServerRequest.HttpServerRequest
  if (!hasBody(request)) return ""
  if (!isJson(request.headers)) return yield* new UnsupportedMediaType()
  const tooLarge = () => new PayloadTooLarge({ limit_bytes: limit })
  if (Number(request.headers["content-length"] ?? 0) > limit) return yield* tooLarge()
  const bytes = yield* request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.fromInputUnsafe(limit)),
    // A client that disconnects interrupts the request, so the only failure left is a chunked body over the limit.
    Effect.mapError(tooLarge)
  )
  // A decoder would replace invalid bytes by U+FFFD, which would be stored and sent.
  if (!isUtf8(bytes)) return yield* new InvalidJson()
  const text = utf8.decode(bytes)
  const { depth, values } = jsonShape(text)
  if (depth > maxDepth) return yield* new InvalidJson()
  if (values > maxValues) return yield* ValidationFailed.of("", `has more than ${maxValues} values`)
  return text
})
