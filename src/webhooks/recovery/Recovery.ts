import { Schema } from "effect"
import { wire } from "../../platform/http/ApiError.ts"
import { RecoveryId, WebhookId } from "../../values/Ids.ts"
import { Timestamp } from "../../values/Timestamp.ts"

/** The statuses of deliveries that a recovery queues again. */
export const RecoverableStatus = Schema.Literals(["failed", "skipped"])
export type RecoverableStatus = typeof RecoverableStatus.Type

const total = Schema.Int.annotate({ description: "Events to recover; at least, while is_total_exact is false" })
const is_total_exact = Schema.Boolean.annotate({ description: "false while the service still counts" })

/** One recovery of a webhook, with its progress. */
export const Recovery = Schema.Struct({
  id: RecoveryId,
  webhook_id: WebhookId,
  status: Schema.Literals(["running", "completed", "canceled"]),
  since: Timestamp,
  until: Timestamp,
  statuses: Schema.Array(RecoverableStatus),
  event: Schema.NullOr(Schema.String).annotate({ description: "Only deliveries of this event; null: of all events" }),
  response_code: Schema.NullOr(Schema.String).annotate({
    description: "Only deliveries with this answer to the last attempt, such as 503 or 5xx; null: with any, or none"
  }),
  total,
  is_total_exact,
  queued: Schema.Int.annotate({ description: "Events queued so far, delivered and failed ones included" }),
  delivered: Schema.Int,
  failed: Schema.Int.annotate({ description: "Events whose new delivery failed, or was skipped" }),
  created_at: Timestamp,
  completed_at: Schema.NullOr(Timestamp)
}).annotate({ identifier: "WebhookRecovery" })
export type Recovery = typeof Recovery.Type

/** What a recovery would do now. */
export const RecoveryPreview = Schema.Struct({
  total,
  is_total_exact: Schema.Boolean.annotate({ description: "false: more than were counted" }),
  order: Schema.Literal("event").annotate({ description: "Oldest event first" }),
  per_second: Schema.NullOr(Schema.Finite).annotate({
    description: "Estimated pace, from the durations of recent deliveries; null if none is known"
  }),
  estimated_end_at: Schema.NullOr(Timestamp).annotate({
    description: "When it would end at that pace, at the earliest"
  })
}).annotate({ identifier: "WebhookRecoveryPreview" })
export type RecoveryPreview = typeof RecoveryPreview.Type

/** A webhook has one recovery at a time. */
export class RecoveryInProgress extends Schema.TaggedError<RecoveryInProgress>()(
  "RecoveryInProgress",
  { recovery_id: RecoveryId },
  wire(409, "recovery_in_progress", 4191)
) {
  override get message() {
    return "A recovery of this webhook is running. Wait until it ends, or cancel it."
  }
}

/** A recovery that has ended cannot be canceled. */
export class RecoveryEnded extends Schema.TaggedError<RecoveryEnded>()(
  "RecoveryEnded",
  { status: Schema.Literals(["completed", "canceled"]) },
  wire(409, "recovery_ended", 4192)
) {
  override get message() {
    return `The recovery is ${this.status}. Start another one if events are still missing.`
  }
}
