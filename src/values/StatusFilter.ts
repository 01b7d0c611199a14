import { Schema } from "effect"

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
