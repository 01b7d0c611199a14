import { Schema } from "effect"
import { MessageBatchId } from "../values/Ids.ts"
import { type Sort, sortedPageQuery } from "../values/Page.ts"
import { Text } from "../values/Text.ts"
import { TimestampInput } from "../values/Timestamp.ts"
import { MessageStatus } from "./Message.ts"

/** The query parameters of every list of messages; a channel adds its own. */
export const messageQuery = {
  ...sortedPageQuery,
  status: Schema.optionalKey(MessageStatus),
  direction: Schema.optionalKey(Schema.Literals(["in", "out"])),
  to: Schema.optionalKey(Text),
  from_date: Schema.optionalKey(TimestampInput),
  to_date: Schema.optionalKey(TimestampInput),
  batch_id: Schema.optionalKey(MessageBatchId)
}

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
