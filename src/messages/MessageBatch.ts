import { Schema } from "effect"
import { MessageBatchId } from "../values/Ids.ts"
import { sortedPageQuery } from "../values/Page.ts"
import { Timestamp } from "../values/Timestamp.ts"

const Status = Schema.Literals(["queued", "processing", "completed", "failed", "canceled"])

/** The query parameters of every list of batches. */
export const messageBatchQuery = { ...sortedPageQuery, status: Schema.optionalKey(Status) }

/** total = queued + sent + failed + suppressed + canceled at every moment, as of email; nobody is suppressed here. */
export const MessageBatch = Schema.Struct({
  batch_id: MessageBatchId,
  status: Status,
  total: Schema.Int,
  queued: Schema.Int,
  sent: Schema.Int,
  failed: Schema.Int,
  suppressed: Schema.Int,
  canceled: Schema.Int,
  created_at: Timestamp,
  completed_at: Schema.NullOr(Timestamp)
})
export type MessageBatch = typeof MessageBatch.Type
