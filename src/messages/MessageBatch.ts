import { Schema } from "effect"
import { MessageBatchId } from "../values/Ids.ts"
import { Timestamp } from "../values/Timestamp.ts"

/** total = queued + sent + failed + suppressed + canceled at every moment, as of email; nobody is suppressed here. */
export const MessageBatch = Schema.Struct({
  batch_id: MessageBatchId,
  status: Schema.Literals(["queued", "processing", "completed", "failed", "canceled"]),
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
