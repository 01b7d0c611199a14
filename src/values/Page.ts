import { Effect, Schema } from "effect"

/** Rows are reachable by page number up to this offset; beyond it a filter serves better than a page. */
const deepest = 100_000

/** A number in a query, with what it may be at most and what it is where it is left out. */
const counted = (maximum: number, standard: number) => {
  const rule = { message: `must be a whole number from 1 to ${maximum}` }
  return Schema.String.annotate({ format: "int64", default: String(standard) })
    .check(Schema.isPattern(/^\d{1,9}$/, { ...rule, toJsonSchema: () => ({ maximum }) })).pipe(
      Schema.decodeTo(Schema.FiniteFromString.check(Schema.isBetween({ minimum: 1, maximum }, rule))),
      Schema.withDecodingDefaultKey(Effect.succeed(String(standard)))
    )
}

/** The query parameters of every pageable list (`page`, `per_page`). */
export const pageQuery = { page: counted(deepest, 1), per_page: counted(100, 25) }

/** What a list can be sorted by; `-` is descending. */
export const Sort = Schema.Literals(["created_at", "-created_at"]).annotate({ default: "-created_at" })
export type Sort = typeof Sort.Type

/** The query parameters of a pageable list that can be sorted: newest first, unless it is asked otherwise. */
export const sortedPageQuery = {
  ...pageQuery,
  sort: Sort.pipe(Schema.withDecodingDefaultKey(Effect.succeed("-created_at")))
}

/** The direction in SQL: of what is sorted by, and of the id that breaks ties. */
export const direction = (sort: Sort) => sort === "created_at" ? "asc" : "desc"

/** A page that was asked for. */
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

/** What `limit` and `offset` a page means. */
export const window = ({ page, per_page }: PageRequest) => ({ limit: per_page, offset: (page - 1) * per_page })
