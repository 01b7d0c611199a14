import { Schema } from "effect"
import { DeliveryId, WebhookId } from "../values/Ids.ts"
import { Timestamp } from "../values/Timestamp.ts"
import { DeliveryError, DeliveryStatus } from "./WebhookState.ts"

/** A webhook (spec 2.6). `secret` is whole in the answer of its creation, later only its first 12 characters. */
export const Webhook = Schema.Struct({
  id: WebhookId,
  url: Schema.String,
  events: Schema.Array(Schema.String),
  secret: Schema.String,
  is_active: Schema.Boolean,
  status: Schema.Literals(["active", "disabled"]),
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
  response_body: Schema.NullOr(Schema.String)
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
