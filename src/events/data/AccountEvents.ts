import { Schema } from "effect"
import { WebhookId } from "../../values/Ids.ts"
import { Timestamp } from "../../values/Timestamp.ts"
import { withExamples } from "./withExamples.ts"

/** The unhealthy webhook itself does not get this event. */
export const WebhookUnhealthy = withExamples(
  Schema.Struct({
    webhook_id: WebhookId,
    url: Schema.String.annotate({ description: "without its query" }),
    reason: Schema.Literals(["failing", "gone", "backlog_full"]),
    failure_count: Schema.Int.annotate({ description: "consecutive deliveries that used up all attempts" }),
    failing_since: Schema.NullOr(Timestamp),
    unhealthy_since: Timestamp
  }),
  {
    webhook_id: 7,
    url: "https://example.com/hook",
    reason: "failing",
    failure_count: 10,
    failing_since: "2030-01-31T08:00:00.000000Z",
    unhealthy_since: "2030-01-31T09:00:00.000000Z"
  }
)

const Quota = Schema.Struct({
  metric: Schema.Literals(["email", "sms", "otp"]),
  used: Schema.Int.annotate({ description: "in this calendar month (UTC)" }),
  limit: Schema.Int
})

export const QuotaWarning = withExamples(Quota, { metric: "email", used: 40_000, limit: 50_000 })

export const QuotaReached = withExamples(Quota, { metric: "email", used: 50_000, limit: 50_000 })
