import { Option, Schema } from "effect"
import type { Position } from "../../values/Page.ts"
import { isInstant } from "../../values/Timestamp.ts"
import type { Ask } from "./Ask.ts"

/** A time in the position of a list. */
export const Instant = Schema.String.check(Schema.makeFilter((text: string) => isInstant(text)))

/** The parameter of an address for the rows behind a position. */
export const cursorOf = (position: Position): string => Buffer.from(JSON.stringify(position)).toString("base64url")

/** Most characters of the pages in an address: servers refuse a long one, and links of rows repeat it. */
const maxLength = 1_500

/** The last pages that fit. */
const fitting = (pages: ReadonlyArray<string>): string => {
  const [, ...later] = pages
  const text = pages.join(".")
  return text.length <= maxLength || later.length === 0 ? text : fitting(later)
}

/**
 * The pages that led to this one and then this one, each by its cursor: the newest rows have an empty one. A cursor of the API
 * stands alone.
 */
const pagesIn = ({ query }: Ask) => fitting((query.get("cursor") ?? "").split(".")).split(".")

/** The position in the address; null for the first page, and for one that this list cannot have. */
export const positionIn = <P extends Position>(ask: Ask, schema: Schema.Codec<P, unknown>): P | null => {
  const decode = Schema.decodeUnknownOption(Schema.fromJsonString(schema))
  return Option.getOrNull(decode(Buffer.from(pagesIn(ask).at(-1) ?? "", "base64url").toString()))
}

/** A page of rows, which were read with one more to know whether others follow. */
export const pageOf = <Row>(
  rows: ReadonlyArray<Row>,
  size: number,
  positionAt: (row: Row) => Position
): { readonly rows: ReadonlyArray<Row>; readonly older: string | undefined } => {
  const last = rows.length > size ? rows[size - 1] : undefined
  return { rows: rows.slice(0, size), older: last === undefined ? undefined : cursorOf(positionAt(last)) }
}

/** The parameters of the pages around this one: the newest rows, the page that led here, and the one with older rows. */
export const cursorsAround = (ask: Ask, older: string | undefined) => {
  const pages = pagesIn(ask)
  const before = pages.slice(0, -1)
  const newer = before.length === 0 ? undefined : before.join(".")
  return {
    ...(ask.query.has("cursor") && newer !== "" && { newest: { cursor: null } }),
    ...(newer !== undefined && { newer: { cursor: newer === "" ? null : newer } }),
    ...(older !== undefined && { older: { cursor: fitting([...pages, older]) } })
  }
}
