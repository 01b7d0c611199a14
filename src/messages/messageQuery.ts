import { Schema } from "effect"
import { MessageBatchId } from "../values/Ids.ts"
import { type TagFilter, tagQuery } from "../values/Labels.ts"
import { type Sort, sortedPageQuery } from "../values/Page.ts"
import { TimestampInput } from "../values/Timestamp.ts"
import { MessageStatus } from "./Message.ts"

/** The query parameters of every list of messages. A channel gives the type of its recipients and adds others. */
export const messageQuery = <To extends string>(to: Schema.Codec<To, string>) => ({
  ...sortedPageQuery,
  ...tagQuery,
  status: Schema.optionalKey(MessageStatus),
  direction: Schema.optionalKey(Schema.Literals(["in", "out"])),
  to: Schema.optionalKey(to),
  from_date: Schema.optionalKey(TimestampInput),
  to_date: Schema.optionalKey(TimestampInput),
  batch_id: Schema.optionalKey(MessageBatchId)
})

/** Selects messages. Absent fields do not filter. */
export interface MessageFilter extends TagFilter {
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
  /** A number: the messages to it and from it. Or a group: the messages in it. */
  readonly chat?: string | undefined
}
