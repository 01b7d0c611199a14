import { Effect, Schema } from "effect"
import { Timestamp } from "./Timestamp.ts"

/** `{ data }`: reads, creates and updates (spec 2.1). */
export const Data = <S extends Schema.Top>(data: S) => Schema.Struct({ data })

/** `{ success: true, data }`: actions (spec 2.1). */
export const Done = <S extends Schema.Top>(data: S) => Schema.Struct({ success: Schema.Literal(true), data })

/** `{ data: [...], meta: { total, page, per_page, next_cursor } }`: pageable lists (spec 2.1). */
export const Paged = <S extends Schema.Top>(row: S) => Schema.Struct({ data: Schema.Array(row), meta: PageMeta })

/** `request_id` is a UUID; the timestamp has microseconds (spec 2.1). */
export const Meta = Schema.Struct({ request_id: Schema.String, timestamp: Timestamp }).annotate({
  identifier: "ResponseMeta"
})

/** `{ success: true, data: null, meta }`: actions without a result, like the specification's session delete. */
export const Nothing = Schema.Struct({ success: Schema.Literal(true), data: Schema.Null, meta: Meta }).annotate({
  identifier: "NoContent"
})

/**
 * The last row that a page can reach, and the most rows that `total` counts. PostgreSQL reads all of them, so deeper lists
 * need a filter.
 */
export const maxRows = 100_000

/** A number in a query with its maximum and its default. */
const wholeNumber = (maximum: number, standard: number) => {
  const rule = { message: `must be a whole number from 1 to ${maximum}` }
  return Schema.String.annotate({ format: "int64", default: String(standard) })
    .check(Schema.isPattern(/^\d{1,9}$/, { ...rule, toJsonSchema: () => ({ maximum }) })).pipe(
      Schema.decodeTo(Schema.FiniteFromString.check(Schema.isBetween({ minimum: 1, maximum }, rule))),
      Schema.withDecodingDefaultKey(Effect.succeed(String(standard)))
    )
}

/** The query parameters of a list without numbered pages. */
export const cursorQuery = {
  per_page: wholeNumber(100, 25),
  cursor: Schema.optionalKey(Schema.String).annotate({
    description: "`meta.next_cursor` of the page before, with the same filters and order. `page` is left out."
  })
}

/** The query parameters of every pageable list. */
export const pageQuery = { page: wholeNumber(maxRows, 1), ...cursorQuery }

/** The sort order of a list. `-` means descending. */
export const Sort = Schema.Literals(["created_at", "-created_at"]).annotate({ default: "-created_at" })
export type Sort = typeof Sort.Type

/** The query parameters of a sortable pageable list. Newest first by default. */
export const sortedPageQuery = {
  ...pageQuery,
  sort: Sort.pipe(Schema.withDecodingDefaultKey(Effect.succeed("-created_at")))
}

/** The SQL direction, for the sort column and for the id that breaks ties. */
export const direction = (sort: Sort) => sort === "created_at" ? "asc" : "desc"

/** A requested page: its number, or the cursor of the page before. */
export interface PageRequest {
  readonly page: number
  readonly per_page: number
  readonly cursor?: string | undefined
}

/** The values that place a row in the order of its list: its id, or its time and the id that breaks ties. */
export const Position = Schema.Array(Schema.Union([Schema.String, Schema.Finite]))
export type Position = typeof Position.Type

/** The rows of a list to read. */
export interface Window {
  readonly limit: number
  readonly offset: number
  /** Only rows behind this one. */
  readonly after: Position | null
}

/** The `limit` and `offset` of a page by number. */
export const window = ({ page, per_page }: PageRequest) => ({ limit: per_page, offset: (page - 1) * per_page })

/** The fields of a {@link Window} in the request of a statement. */
export const windowFields = {
  limit: Schema.Int,
  offset: Schema.Int,
  after: Schema.NullOr(Position)
}

/** Rows of a window with the total of the whole list, which is not counted behind a cursor. */
export interface PageOf<A> {
  readonly rows: ReadonlyArray<A>
  readonly total: number | null
}

const cursorMeta = {
  per_page: Schema.Int,
  next_cursor: Schema.NullOr(Schema.String).annotate({
    description: "Give it as `cursor` to read the next page; null on the last one"
  })
}

const CursorMeta = Schema.Struct(cursorMeta).annotate({ identifier: "CursorMeta" })

/** `{ data: [...], meta: { per_page, next_cursor } }`: lists without numbered pages. */
export const CursorPaged = <S extends Schema.Top>(row: S) =>
  Schema.Struct({ data: Schema.Array(row), meta: CursorMeta })

const PageMeta = Schema.Struct({
  total: Schema.optionalKey(Schema.Int).annotate({
    description: `Rows of all pages; at most ${maxRows} are counted. Absent with a cursor`
  }),
  page: Schema.optionalKey(Schema.Int).annotate({ description: "Absent with a cursor" }),
  ...cursorMeta
}).annotate({ identifier: "PageMeta" })

/** A status of HTTP such as 422, or a class of them such as 4xx. */
export const StatusFilter = Schema.String.check(
  Schema.isPattern(/^([2-5]\d\d|[2-5]xx)$/, { message: "must be a status such as 422, or a class of them such as 4xx" })
)

/** Statuses from the lowest to the highest one. */
export interface StatusRange {
  readonly lowest: number
  readonly highest: number
}

/** The statuses that a filter selects. */
export const statusesOf = (filter: string): StatusRange => {
  const isClass = filter.endsWith("xx")
  const lowest = isClass ? Number(filter[0]) * 100 : Number(filter)
  return { lowest, highest: isClass ? lowest + 99 : lowest }
}
