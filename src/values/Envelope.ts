import { Schema } from "effect"
import { PageMeta, type PageOf, type PageRequest } from "./Page.ts"
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
export const Meta = Schema.Struct({ request_id: Schema.String, timestamp: Timestamp })

/** `{ success: true, data: null, meta }`: actions without a result, like the specification's session delete. */
export const Nothing = Schema.Struct({ success: Schema.Literal(true), data: Schema.Null, meta: Meta })
