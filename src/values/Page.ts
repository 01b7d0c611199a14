import { Effect, Schema } from "effect"

/** The last row that a page number can reach. Beyond it, use a filter. */
const maxRows = 100_000

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

export const PageMeta = Schema.Struct({ total: Schema.Int, page: Schema.Int, per_page: Schema.Int })

/** The `limit` and `offset` of a page. */
export const window = ({ page, per_page }: PageRequest) => ({ limit: per_page, offset: (page - 1) * per_page })
