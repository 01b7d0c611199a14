import { Option, Schema } from "effect"
import type { Position } from "../../values/Page.ts"
import type { Ask } from "./Ask.ts"

/** The parameter of an address for the rows behind a position. */
export const cursorOf = (position: Position): string => Buffer.from(JSON.stringify(position)).toString("base64url")

/** The position in the address; null for the first page, and for one that this list cannot have. */
export const positionIn = <P extends Position>({ query }: Ask, schema: Schema.Codec<P, unknown>): P | null => {
  const decode = Schema.decodeUnknownOption(Schema.fromJsonString(schema))
  return Option.getOrNull(decode(Buffer.from(query.get("cursor") ?? "", "base64url").toString()))
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

/** The parameters of the pages around this one: the newest one, unless this is it, and the one with older rows. */
export const cursorsAround = ({ query }: Ask, older: string | undefined) => ({
  ...(query.has("cursor") && { newest: { cursor: null } }),
  ...(older !== undefined && { older: { cursor: older } })
})
