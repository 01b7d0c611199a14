import { ByteSize, Effect } from "effect"
import { HttpIncomingMessage, HttpMethod, HttpServerRequest } from "effect/http"
import { isUtf8 } from "node:buffer"
import { InvalidJson, PayloadTooLarge, UnsupportedMediaType, ValidationFailed } from "./ApiErrors.ts"

const deepest = 32

/**
 * What 500 recipients with nearly 200 variables each have. All that does not fit is found out at up to 25 microseconds
 * for each value: the millions that 10 MiB have room for would keep a node busy for longer than its shards are its own.
 */
const mostValues = 100_000

const utf8 = new TextDecoder()

/**
 * How deep arrays and objects nest in a JSON text, and how many values it has at most (empty arrays and objects count
 * twice), counted without building it. Brackets and commas in strings do not count.
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
  const { depth, values } = jsonShape(text)
  if (depth > deepest) return yield* new InvalidJson()
  if (values > mostValues) return yield* ValidationFailed.of("", `has more than ${mostValues} values`)
  return text
})
