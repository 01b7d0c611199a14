import { Schema } from "effect"
import { BatchStatus } from "../values/BatchStatus.ts"
import { MessageBatchId } from "../values/Ids.ts"
import { sortedPageQuery } from "../values/Page.ts"
import { Timestamp } from "../values/Timestamp.ts"

/** The query parameters of every list of batches. */
export const messageBatchQuery = { ...sortedPageQuery, status: Schema.optionalKey(BatchStatus) }

/** total = queued + sent + failed + suppressed + canceled at every moment, as for email. suppressed is always 0. */
export const MessageBatch = Schema.Struct({
  batch_id: MessageBatchId,
  status: BatchStatus,
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
