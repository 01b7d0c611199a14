import { Schema } from "effect"
import { DeliveryId, WebhookId } from "../../values/Ids.ts"
import { Timestamp } from "../../values/Timestamp.ts"
import { DeliveryError, DeliveryStatus } from "../delivery/DeliveryState.ts"

/**
 * Why a webhook counts as unhealthy (spec 3.3): its deliveries keep failing, all attempts of one met 410 Gone, or too many
 * wait for it.
 */
export const UnhealthyReason = Schema.Literals(["failing", "gone", "backlog_full"])
export type UnhealthyReason = typeof UnhealthyReason.Type

/** A webhook (spec 2.6). `secret` is whole in the answer that made it, later only its first 12 characters. */
export const Webhook = Schema.Struct({
  id: WebhookId,
  url: Schema.String,
  events: Schema.Array(Schema.String),
  secret: Schema.String,
  is_active: Schema.Boolean,
  status: Schema.Literals(["active", "unhealthy", "disabled"]),
  unhealthy_reason: Schema.NullOr(UnhealthyReason),
  failure_count: Schema.Int,
  created_at: Timestamp
})
export type Webhook = typeof Webhook.Type

/** One attempt of a delivery; `response_body` is the beginning of the answer, at most 16 KiB. */
export const DeliveryAttempt = Schema.Struct({
  attempt: Schema.Int,
  started_at: Timestamp,
  duration_ms: Schema.Int,
  response_code: Schema.NullOr(Schema.Int),
  error: Schema.NullOr(DeliveryError),
  response_body: Schema.NullOr(Schema.String),
  /** The header Retry-After of the answer; recorded, it does not move the next attempt (spec 6.6). */
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

/** A delivery in a list. */
export const DeliverySummary = Schema.Struct(summary)
export type DeliverySummary = typeof DeliverySummary.Type

/** A delivery alone: with what was sent and every attempt. */
export const DeliveryDetail = Schema.Struct({
  ...summary,
  payload: Schema.Unknown,
  attempts: Schema.Array(DeliveryAttempt)
})
export type DeliveryDetail = typeof DeliveryDetail.Type
