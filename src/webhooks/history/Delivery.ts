import { Schema } from "effect"
import { DeliveryId, WebhookId } from "../../values/Ids.ts"
import { Timestamp } from "../../values/Timestamp.ts"
import { DeliveryError, DeliveryStatus } from "../delivery/DeliveryState.ts"

/** One attempt of a delivery; `response_body` is the beginning of the response, at most 4 KiB. */
export const RecordedAttempt = Schema.Struct({
  attempt: Schema.Int,
  started_at: Timestamp,
  duration_ms: Schema.Int,
  response_code: Schema.NullOr(Schema.Int),
  error: Schema.NullOr(DeliveryError),
  response_body: Schema.NullOr(Schema.String),
  /** The Retry-After header of the response. It does not change when the next attempt starts (spec 6.6). */
  retry_after: Schema.NullOr(Schema.String)
})

const summary = {
  id: DeliveryId,
  webhook_id: WebhookId,
  event: Schema.String,
  event_id: Schema.String,
  status: DeliveryStatus,
  attempt_count: Schema.Int,
  next_attempt_at: Schema.NullOr(Timestamp),
  response_code: Schema.NullOr(Schema.Int),
  error: Schema.NullOr(DeliveryError),
  duration_ms: Schema.NullOr(Schema.Int),
  is_test: Schema.Boolean,
  created_at: Timestamp,
  completed_at: Schema.NullOr(Timestamp)
}

/** A delivery as the list shows it. */
export const DeliverySummary = Schema.Struct(summary).annotate({ identifier: "WebhookDelivery" })
export type DeliverySummary = typeof DeliverySummary.Type

/** A delivery with its payload and every attempt. */
export const DeliveryDetail = Schema.Struct({
  ...summary,
  payload: Schema.Unknown,
  attempts: Schema.Array(RecordedAttempt)
}).annotate({ identifier: "WebhookDeliveryDetail" })
export type DeliveryDetail = typeof DeliveryDetail.Type
