/**
 * The stored form of the library's values: bytes as they are (0), a pair of 32-byte keys as 64 bytes (2), anything else as
 * JSON with bytes as `{"$": base64}` (1). A paired device has more than 800 key pairs, which as JSON would be five times
 * as long.
 */
const raw = 0
const json = 1
const pair = 2

type Plain = string | number | boolean | null | Array<Plain> | { readonly [key: string]: Plain }

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** Reads own properties: the library's classes serialise bytes as bare base64, which looks like any other text. */
const toPlain = (value: unknown): Plain | undefined => {
  if (value instanceof Uint8Array) return { $: Buffer.from(value).toString("base64") }
  if (Array.isArray(value)) return value.map((item) => toPlain(item) ?? null)
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value
  if (!isObject(value)) return value === null ? null : undefined
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => {
      const known = toPlain(item)
      return known === undefined ? [] : [[key, known]]
    })
  )
}

const fromPlain = (_key: string, value: unknown): unknown =>
  isObject(value) && typeof value["$"] === "string" ? Buffer.from(value["$"], "base64") : value

const isPair = (value: unknown): value is { readonly public: Uint8Array; readonly private: Uint8Array } =>
  isObject(value) && Object.keys(value).length === 2 &&
  [value["public"], value["private"]].every((key) => key instanceof Uint8Array && key.length === 32)

/** The stored form of a value. */
export const encodeValue = (value: unknown): Uint8Array => {
  if (value instanceof Uint8Array) return Buffer.concat([Buffer.of(raw), value])
  if (isPair(value)) return Buffer.concat([Buffer.of(pair), value.private, value.public])
  return Buffer.concat([Buffer.of(json), Buffer.from(JSON.stringify(toPlain(value)))])
}

/** The stored form of ratchets, whose bytes the library has already written as base64. */
export const encodeRatchet = (value: unknown): Uint8Array =>
  Buffer.concat([Buffer.of(json), Buffer.from(JSON.stringify(value))])

/** The value of a stored form. */
export const decodeValue = (bytes: Uint8Array): unknown => {
  const body = Buffer.from(bytes.subarray(1))
  if (bytes[0] === raw) return body
  if (bytes[0] === pair) return { private: body.subarray(0, 32), public: body.subarray(32) }
  return JSON.parse(body.toString("utf8"), fromPlain)
}
