import { Schema, SchemaTransformation } from "effect"
import { MessageBatchId } from "../values/Ids.ts"
import { type Sort, sortedPageQuery } from "../values/Page.ts"
import { TimestampInput } from "../values/Timestamp.ts"
import { MessageStatus } from "./Message.ts"

/**
 * A number that is looked for may come without its plus, and in a query a + that nobody has escaped is a space. What has an
 * @ is no number, though it begins with digits as a group's id does.
 */
const withItsPlus = SchemaTransformation.transform({
  decode: (text: string) => text.replace(/^\s*(?=\p{Nd}[^@]*$)/u, "+"),
  encode: (text: string) => text
})

/** The query parameters of every list of messages, with whom a channel's messages can go to; it adds its own. */
export const messageQuery = <To extends string>(to: Schema.Codec<To, string>) => ({
  ...sortedPageQuery,
  status: Schema.optionalKey(MessageStatus),
  direction: Schema.optionalKey(Schema.Literals(["in", "out"])),
  to: Schema.optionalKey(Schema.String.pipe(Schema.decodeTo(to, withItsPlus))),
  from_date: Schema.optionalKey(TimestampInput),
  to_date: Schema.optionalKey(TimestampInput),
  batch_id: Schema.optionalKey(MessageBatchId)
})

/** Which messages are listed; what is absent does not ask. */
export interface MessageFilter {
  readonly sort: Sort
  readonly status?: MessageStatus | undefined
  readonly direction?: "in" | "out" | undefined
  readonly to?: string | undefined
  /** From this moment on. */
  readonly from_date?: string | undefined
  /** Before this moment. */
  readonly to_date?: string | undefined
  readonly batch_id?: MessageBatchId | undefined
  readonly session_id?: number | undefined
}
