import { ByteSize, Effect, Option, Schema } from "effect"
import { HttpIncomingMessage, HttpMethod, HttpServerRequest } from "effect/http"
import { isUtf8 } from "node:buffer"
import { InvalidJson, PayloadTooLarge, UnsupportedMediaType, ValidationFailed } from "./ApiErrors.ts"
import { BodyMemory, HeldOutside } from "./MemoryBudget.ts"
import type { BodyLimits } from "./RequestRules.ts"
import { pathOf } from "./violations.ts"

const maxDepth = 32

/** The longest list of the API: the recipients of a bulk request. */
const maxElements = 500

/** Twice the variables that a template may have. */
const maxNames = 1000

const utf8 = new TextDecoder()

/**
 * The nesting depth of a JSON text, an upper bound of its number of values (empty arrays and objects count twice), the
 * length of its longest array, the most names of an object, and the names of the outermost object, without parsing it.
 * Brackets and commas in strings do not count.
 */
export const jsonShape = (text: string) => {
  // The commas so far of the innermost array or object and of those around it. Deeper bodies are refused anyway.
  const commas = new Uint32Array(maxDepth + 1)
  const isArray = new Uint8Array(maxDepth + 1)
  const shape = { depth: 0, values: 1, elements: 0, names: 0 }
  const outermost: Array<string> = []
  let isNameNext = false
  let nameAt = -1
  let depth = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i)
    if (inString) {
      if (char === 0x5c) i++
      else if (char === 0x22) {
        inString = false
        if (nameAt >= 0) outermost.push(text.slice(nameAt, i + 1))
        nameAt = -1
      }
    } else if (char === 0x22) {
      inString = true
      if (isNameNext) nameAt = i
      isNameNext = false
    } else if (char === 0x2c) {
      shape.values++
      const members = 1 + (commas[depth] = (commas[depth] ?? 0) + 1)
      if (isArray[depth] === 1) shape.elements = Math.max(shape.elements, members)
      else shape.names = Math.max(shape.names, members)
      isNameNext = depth === 1 && isArray[1] === 0
    } else if (char === 0x5b || char === 0x7b) {
      shape.values++
      shape.depth = Math.max(shape.depth, ++depth)
      commas[depth] = 0
      isArray[depth] = char === 0x5b ? 1 : 0
      isNameNext = depth === 1 && char === 0x7b
    } else if (char === 0x5d || char === 0x7d) depth--
  }
  return { ...shape, outermost }
}

/** Finds an array or object of a parsed body, and returns its path. */
const pathTo = (
  value: unknown,
  isFound: (holder: object) => boolean,
  path: ReadonlyArray<PropertyKey> = []
): ReadonlyArray<PropertyKey> | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  if (isFound(value)) return path
  for (const name of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    const found = pathTo(Reflect.get(value, name), isFound, [...path, name])
    if (found !== undefined) return found
  }
  return undefined
}

const parseJson = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

/**
 * Refuses a body with an array or object that is longer than any of the API. A schema would look at the length after it
 * has decoded each element.
 */
const refuseLong = (text: string): Effect.Effect<never, InvalidJson | ValidationFailed> => {
  const body = parseJson(text)
  if (Option.isNone(body)) return Effect.fail(new InvalidJson())
  const list = pathTo(body.value, (holder) => Array.isArray(holder) && holder.length > maxElements)
  if (list !== undefined) {
    return Effect.fail(ValidationFailed.of(pathOf(list), `must have at most ${maxElements} elements`))
  }
  const object = pathTo(body.value, (holder) => Object.keys(holder).length > maxNames)
  return Effect.fail(ValidationFailed.of(pathOf(object ?? []), `must have at most ${maxNames} names`))
}

/** The JSON escapes of NUL and of lone surrogates. Valid UTF-8 and valid JSON have no plain ones. */
const suspicious = /\\u(?:0000|d[89a-f][\da-f]{2})/i

const isStorable = (name: string) => name.isWellFormed() && !name.includes("\0")

const hasUnstorableName = (holder: object) =>
  !Array.isArray(holder) && Object.keys(holder).some((name) => !isStorable(name))

/**
 * Rejects an object in a JSON text that has a name with a NUL character or a lone surrogate, which PostgreSQL can store
 * neither as text nor as jsonb. Schemas check values; they do not check the names of a record.
 */
const requireStorableNames = (text: string): Effect.Effect<void, ValidationFailed> => {
  const path = suspicious.test(text) ? pathTo(Option.getOrUndefined(parseJson(text)), hasUnstorableName) : undefined
  if (path === undefined) return Effect.void
  return Effect.fail(
    ValidationFailed.of(pathOf(path), "must not have a name with a NUL character or a lone surrogate")
  )
}

const isJson = (headers: Readonly<Record<string, string | undefined>>) => {
  const [type = "", ...parameters] = (headers["content-type"] ?? "").toLowerCase().split(";").map((part) => part.trim())
  const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.slice(8).replaceAll("\"", "")
  return type === "application/json" && (charset === undefined || charset === "utf-8" || charset === "utf8") &&
    (headers["content-encoding"] ?? "identity") === "identity"
}

/** A name without its quotes and escapes. */
const nameOf = (quoted: string): string =>
  quoted.includes("\\") ? String(Option.getOrUndefined(parseJson(quoted)) ?? "") : quoted.slice(1, -1)

/** Whether a request announces a body. */
export const hasBody = (request: HttpServerRequest.HttpServerRequest) =>
  HttpMethod.hasBody(request.method) &&
  (Number(request.headers["content-length"] ?? 0) > 0 || request.headers["transfer-encoding"] !== undefined)

/**
 * Reads the body of the current request once, within the limits of its endpoint; the decoder of the endpoint gets the same
 * text. Answers with the text, its bytes and the names of its outermost object. A missing body is the empty text. Fails
 * before it buffers a byte when the headers already rule the body out. The scope holds the memory of a large body, on the
 * account of the caller.
 */
export const readBody = Effect.fnUntraced(function*(limits: BodyLimits, accountId: number) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const memory = yield* BodyMemory
  if (!hasBody(request)) return { text: "", byteLength: 0, names: [] }
  if (!isJson(request.headers)) return yield* new UnsupportedMediaType()
  const tooLarge = () => new PayloadTooLarge({ limit_bytes: limits.bytes })
  const size = Number(request.headers["content-length"] ?? limits.bytes)
  if (size > limits.bytes) return yield* tooLarge()
  if (!(yield* HeldOutside)) yield* memory.holdBytes(accountId, size)
  const bytes = yield* request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.fromInputUnsafe(limits.bytes)),
    // A client that disconnects interrupts the request, so the only failure left is a chunked body over the limit.
    Effect.mapError(tooLarge)
  )
  // A decoder would replace invalid bytes by U+FFFD, which would be stored and sent.
  if (!isUtf8(bytes)) return yield* new InvalidJson()
  const text = utf8.decode(bytes)
  const { depth, elements, names, outermost, values } = jsonShape(text)
  if (depth > maxDepth) return yield* new InvalidJson()
  if (values > limits.values) return yield* ValidationFailed.of("", `has more than ${limits.values} values`)
  if (elements > maxElements || names > maxNames) return yield* refuseLong(text)
  yield* requireStorableNames(text)
  yield* memory.holdValues(accountId, values)
  return { text, byteLength: bytes.byteLength, names: outermost.map(nameOf) }
})
