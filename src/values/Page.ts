import { Effect, Schema } from "effect"
import { Timestamp } from "./Timestamp.ts"

/** `{ data }`: reads, creates and updates (spec 2.1). */
export const Data = <S extends Schema.Top>(data: S) => Schema.Struct({ data })

/** `{ success: true, data }`: actions (spec 2.1). */
export const Done = <S extends Schema.Top>(data: S) => Schema.Struct({ success: Schema.Literal(true), data })

/** `{ data: [...], meta: { total, page, per_page } }`: pageable lists (spec 2.1). */
export const Paged = <S extends Schema.Top>(row: S) => Schema.Struct({ data: Schema.Array(row), meta: PageMeta })

/** The response to a page request. */
export const paged = <A>({ page, per_page }: PageRequest, { rows, total }: PageOf<A>) => ({
  data: rows,
  meta: { total, page, per_page }
})

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

/** The query parameters of every pageable list (`page`, `per_page`). */
export const pageQuery = { page: wholeNumber(maxRows, 1), per_page: wholeNumber(100, 25) }

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

/** A requested page. */
export interface PageRequest {
  readonly page: number
  readonly per_page: number
}

/** A page of rows with the total of all pages. */
export interface PageOf<A> {
  readonly rows: ReadonlyArray<A>
  readonly total: number
}

const PageMeta = Schema.Struct({
  total: Schema.Int.annotate({ description: `Rows of all pages; at most ${maxRows} are counted` }),
  page: Schema.Int,
  per_page: Schema.Int
}).annotate({ identifier: "PageMeta" })

/** The `limit` and `offset` of a page. */
export const window = ({ page, per_page }: PageRequest) => ({ limit: per_page, offset: (page - 1) * per_page })
