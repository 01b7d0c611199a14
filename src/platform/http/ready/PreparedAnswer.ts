import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import { brotliCompress, constants, gzip } from "node:zlib"
import type { ReadyAnswer } from "./QuickAnswers.ts"

/** A weak entity tag of a body (RFC 9110, 8.8.3): equal bodies have equal tags on every node. */
export const entityTag = (body: string): string =>
  `W/"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`

/** Whether `If-None-Match` names the tag, by weak comparison (RFC 9110, 13.1.2). */
export const isNamed = (etag: string, header: string | undefined): boolean =>
  header !== undefined &&
  (header.trim() === "*" || header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag.slice(2)))

/** A text in each encoding, with its entity tag. All responses share these bytes. */
export interface PreparedAnswer {
  readonly etag: string
  readonly unchanged: ReadyAnswer
  readonly encodings: ReadonlyArray<readonly [encoding: string, answer: ReadyAnswer]>
  readonly identity: ReadyAnswer
}

interface Content {
  readonly text: string
  readonly type: string
  readonly headers: Readonly<Record<string, string>>
}

const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }

const compressed = (compress: (done: (error: Error | null, bytes: Buffer) => void) => void) =>
  Effect.callback<Uint8Array>((resume) =>
    compress((error, bytes) => resume(error === null ? Effect.succeed(bytes) : Effect.die(error)))
  )

const prepare = (
  { headers, text, type }: Content,
  encodings: ReadonlyArray<readonly [encoding: string, bytes: Uint8Array]>
): PreparedAnswer => {
  const etag = entityTag(text)
  const all = { etag, ...(encodings.length > 0 && { vary: "accept-encoding" }), ...headers }
  const ok = (bytes: Uint8Array, more: Readonly<Record<string, string>>): ReadyAnswer => ({
    status: 200,
    headers: { ...all, "content-type": type, ...more },
    bytes
  })
  return {
    etag,
    unchanged: { status: 304, headers: all, bytes: undefined },
    encodings: encodings.map(([encoding, bytes]) => [encoding, ok(bytes, { "content-encoding": encoding })]),
    identity: ok(Buffer.from(text), {})
  }
}

/** Whether a request's `accept-encoding` takes an encoding (RFC 9110 12.5.3). */
export const accepts = (header: string, encoding: string): boolean =>
  header.split(",").some((entry) => {
    const [name = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase())
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })

/** Headers of a request, with names in lower case. */
interface Asked {
  readonly [name: string]: string | ReadonlyArray<string> | undefined
}

const textOf = (value: Asked[string]) => typeof value === "string" ? value : value?.join(", ")

const forRequest = ({ encodings, etag, identity, unchanged }: PreparedAnswer, asked: Asked): ReadyAnswer => {
  if (isNamed(etag, textOf(asked["if-none-match"]))) return unchanged
  const accepted = textOf(asked["accept-encoding"])
  if (accepted === undefined) return identity
  return encodings.find(([encoding]) => accepts(accepted, encoding))?.[1] ?? identity
}

export const PreparedAnswer = {
  /** Compresses a text once for all of its responses. */
  compressed: Effect.fnUntraced(function*(content: Content) {
    const br = yield* compressed((done) => brotliCompress(content.text, quality, done))
    const zipped = yield* compressed((done) => gzip(content.text, done))
    return prepare(content, [["br", br], ["gzip", zipped]])
  }),
  /** For a text of few responses. */
  plain: (content: Content): PreparedAnswer => prepare(content, []),
  forRequest,
  /** The answer of a route. */
  response: (answer: PreparedAnswer, asked: Asked): HttpServerResponse.HttpServerResponse => {
    const { bytes, headers, status } = forRequest(answer, asked)
    return bytes === undefined
      ? HttpServerResponse.empty({ status, headers })
      : HttpServerResponse.uint8Array(bytes, { status, headers, contentType: headers["content-type"] ?? "" })
  }
}
