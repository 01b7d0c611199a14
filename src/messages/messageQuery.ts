import { Schema, SchemaTransformation } from "effect"
import { MessageBatchId } from "../values/Ids.ts"
import { type Sort, sortedPageQuery } from "../values/Page.ts"
import { TimestampInput } from "../values/Timestamp.ts"
import { MessageStatus } from "./Message.ts"

/**
 * Adds the plus to a phone number in a query, where it may be missing or decoded to a space. A value with an @ is not a
 * number, although a group's id begins with digits.
 */
const withItsPlus = SchemaTransformation.transform({
  decode: (text: string) => text.replace(/^\s*(?=\p{Nd}[^@]*$)/u, "+"),
  encode: (text: string) => text
})

/** The query parameters of every list of messages. A channel gives the type of its recipients and adds others. */
export const messageQuery = <To extends string>(to: Schema.Codec<To, string>) => ({
  ...sortedPageQuery,
  status: Schema.optionalKey(MessageStatus),
  direction: Schema.optionalKey(Schema.Literals(["in", "out"])),
  to: Schema.optionalKey(Schema.String.pipe(Schema.decodeTo(to, withItsPlus))),
  from_date: Schema.optionalKey(TimestampInput),
  to_date: Schema.optionalKey(TimestampInput),
  batch_id: Schema.optionalKey(MessageBatchId)
})

/** Selects messages. Absent fields do not filter. */
export interface MessageFilter {
  readonly sort: Sort
  readonly status?: MessageStatus | undefined
  readonly direction?: "in" | "out" | undefined
  readonly to?: string | undefined
  /** Inclusive. */
  readonly from_date?: string | undefined
  /** Exclusive. */
  readonly to_date?: string | undefined
  readonly batch_id?: MessageBatchId | undefined
  readonly session_id?: number | undefined
}
