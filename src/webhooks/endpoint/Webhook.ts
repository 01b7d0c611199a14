import { Schema } from "effect"
import { WebhookId } from "../../values/Ids.ts"
import { Timestamp } from "../../values/Timestamp.ts"

/**
 * Why a webhook is unhealthy (spec 3.3): its deliveries keep failing, all attempts of one met 410 Gone, or its backlog is
 * full.
 */
export const UnhealthyReason = Schema.Literals(["failing", "gone", "backlog_full"])
export type UnhealthyReason = typeof UnhealthyReason.Type

/** A webhook (spec 2.6). The response that creates it has the whole `secret`, later ones its first 12 characters. */
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
