import { Effect, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { createHmac, timingSafeEqual } from "node:crypto"
import { maxRows, type PageOf, type PageRequest, Position, type Window, window } from "../../values/Page.ts"
import { MacKeys } from "../crypto/MacKeys.ts"
import { ValidationFailed } from "./ApiErrors.ts"
import { Principal } from "./Authentication.ts"
import { RequestContext } from "./RequestContext.ts"

/** A page request with the filters and the order of its list. */
interface CursorRequest {
  readonly per_page: number
  readonly cursor?: string | undefined
}

const macBytes = 16

const readPosition = Schema.decodeUnknownOption(Schema.fromJsonString(Position))

/**
 * The cursors of one list. A cursor is a position and its MAC, which covers the account, the path, the filters and the
 * order: it continues the very list that it came from.
 */
const cursorsOf = Effect.fnUntraced(function*(request: CursorRequest) {
  const { cursor: key } = yield* MacKeys
  const { accountId } = yield* Principal
  const { url } = yield* HttpServerRequest.HttpServerRequest
  const filters = Object.entries(request)
    .filter(([name, value]) => value !== undefined && !["page", "per_page", "cursor"].includes(name))
    .toSorted(([one], [other]) => one < other ? -1 : 1)
  const list = JSON.stringify([accountId, url.split("?")[0], filters])
  const macOf = (body: Uint8Array) =>
    createHmac("sha256", key).update(list).update("\0").update(body).digest().subarray(0, macBytes)

  const write = (position: Position) => {
    const body = Buffer.from(JSON.stringify(position))
    return Buffer.concat([macOf(body), body]).toString("base64url")
  }

  const read = Effect.fnUntraced(function*(cursor: string) {
    const bytes = Buffer.from(cursor, "base64url")
    const [mac, body] = [bytes.subarray(0, macBytes), bytes.subarray(macBytes)]
    const isOurs = bytes.toString("base64url") === cursor && mac.length === macBytes &&
      timingSafeEqual(mac, macOf(body))
    if (!isOurs) {
      return yield* ValidationFailed.of(
        "cursor",
        "must be meta.next_cursor of the page before, with the same filters and order; without it the list starts over"
      )
    }
    return yield* Effect.orDie(Effect.fromOption(readPosition(body.toString())))
  })

  return { read, write }
})

/** Sets the `Link` header of RFC 8288. */
const link = Effect.fnUntraced(function*(
  targets: ReadonlyArray<{
    readonly rel: string
    readonly title?: string
    readonly query: Readonly<Record<string, string | number | null>>
  }>
) {
  const { url } = yield* HttpServerRequest.HttpServerRequest
  const { answerHeaders } = yield* RequestContext
  const [path = "", search = ""] = url.split("?")
  const written = targets.map(({ query, rel, title }) => {
    const parameters = new URLSearchParams(search)
    for (const [name, value] of Object.entries(query)) {
      if (value === null) parameters.delete(name)
      else parameters.set(name, String(value))
    }
    return `<${path}?${parameters}>;${title === undefined ? "" : ` title="${title}";`} rel="${rel}"`
  })
  answerHeaders.set("link", written.join(", "))
})

/** One page of rows, which are read with one more to know whether another page follows. */
const cut = <A>(rows: ReadonlyArray<A>, size: number) => {
  const data = rows.slice(0, size)
  return { data, last: rows.length > size ? data.at(-1) : undefined }
}

const byCursor = (cursor: string | null) =>
  cursor === null ? [] : [{ rel: "next", title: "cursor", query: { page: null, cursor } }]

/**
 * Answers a request of a list without numbered pages: `{ data, meta }` and the `Link` header. Its cost does not depend on
 * how far the list has been read.
 */
export const cursorPage = Effect.fnUntraced(function*<A, E, R>(
  request: CursorRequest,
  read: (window: Window) => Effect.Effect<ReadonlyArray<A>, E, R>,
  positionOf: (row: A) => Position
) {
  const { per_page } = request
  const cursors = yield* cursorsOf(request)
  const after = request.cursor === undefined ? null : yield* cursors.read(request.cursor)
  const { data, last } = cut(yield* read({ limit: per_page + 1, offset: 0, after }), per_page)
  const next_cursor = last === undefined ? null : cursors.write(positionOf(last))
  yield* link([{ rel: "first", query: { page: null, cursor: null, per_page } }, ...byCursor(next_cursor)])
  return { data, meta: { per_page, next_cursor } }
})

const numbered = ({ page, per_page }: PageRequest, total: number) => {
  // Never a page that would be refused.
  const last = Math.max(1, Math.min(Math.ceil(total / per_page), Math.floor(maxRows / per_page)))
  const to = (target: number, rel: string) => ({ rel, query: { page: target, per_page } })
  return [
    to(1, "first"),
    ...(page > 1 ? [to(page - 1, "prev")] : []),
    ...(page < last ? [to(page + 1, "next")] : []),
    to(last, "last")
  ]
}

/** Answers a page request by number or by cursor: `{ data, meta }` and the `Link` header. */
export const page = Effect.fnUntraced(function*<A, E, R>(
  request: PageRequest,
  read: (window: Window) => Effect.Effect<PageOf<A>, E, R>,
  positionOf: (row: A) => Position
) {
  const { cursor, page, per_page } = request
  if (cursor !== undefined) {
    if (page > 1) return yield* ValidationFailed.of("page", "must be left out when cursor is given")
    return yield* cursorPage(request, (window) => Effect.map(read(window), ({ rows }) => rows), positionOf)
  }
  if (page * per_page > maxRows) {
    return yield* ValidationFailed.of(
      "page",
      `page × per_page must not exceed ${maxRows}; narrow the list with a filter, or continue with meta.next_cursor`
    )
  }
  const cursors = yield* cursorsOf(request)
  const { rows, total } = yield* read({ ...window(request), limit: per_page + 1, after: null })
  const { data, last } = cut(rows, per_page)
  // A page by number is always counted.
  const counted = total ?? 0
  const next_cursor = last === undefined ? null : cursors.write(positionOf(last))
  yield* link([...numbered(request, counted), ...byCursor(next_cursor)])
  return { data, meta: { total: counted, page, per_page, next_cursor } }
})
