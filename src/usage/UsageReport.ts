import { Schema } from "effect"
import { Account } from "../accounts/Account.ts"
import { Day } from "../values/Day.ts"
import { Plan } from "../values/Plan.ts"
import { Timestamp } from "../values/Timestamp.ts"

/** Metrics with a monthly quota (spec 8). */
export const Metered = Schema.Literals(["email", "sms", "otp"])
export type Metered = typeof Metered.Type

/**
 * Counted metrics. `email`: accepted recipients that are not suppressed. `email_sent`: emails accepted by the relay.
 * `sms`: accepted messages, with `sms_segments` for their cost. `whatsapp`: accepted messages. `otp`: codes.
 */
export const Metric = Schema.Literals([...Metered.literals, "email_sent", "sms_segments", "whatsapp"])
export type Metric = typeof Metric.Type

const usd = Schema.Finite.annotate({ description: "US dollars" })

/** Days in UTC, `to` exclusive. */
const Period = Schema.Struct({ from: Day, to: Day })

/** The use of one metric. */
const UsedMetric = Schema.Struct({ metric: Metric, count: Schema.Int, cost_usd: usd })

/** The use of a quota in the current month. Null means no limit. */
const QuotaUse = Schema.Struct({
  resource: Metered,
  limit: Schema.NullOr(Schema.Int),
  used: Schema.Int,
  remaining: Schema.NullOr(Schema.Int),
  resets_at: Timestamp
})

export const UsageReport = Schema.Struct({
  period: Period,
  plan: Plan,
  metrics: Schema.Array(UsedMetric),
  quotas: Schema.Array(QuotaUse),
  high_volume: Schema.Boolean.annotate({
    description: "More SMS in the current month than the plans cover. Ask for volume pricing"
  })
}).annotate({ identifier: "UsageReport" })
export type UsageReport = typeof UsageReport.Type

/** A week begins on Monday, a month on its first day. The date of a group is its first day. */
export const Granularity = Schema.Literals(["day", "week", "month"])
export type Granularity = typeof Granularity.Type

/** The use of a metric in a day, week or month. Without use there is no entry. */
export const UsedInTime = Schema.Struct({ date: Day, ...UsedMetric.fields }).annotate({ identifier: "DailyUsage" })
export type UsedInTime = typeof UsedInTime.Type

export const BillingReport = Schema.Struct({
  plan: Plan,
  status: Account.fields.status,
  trial_ends_at: Account.fields.trial_ends_at,
  period: Period,
  currency: Schema.Literal("USD"),
  amount_usd: usd,
  lines: Schema.Array(Schema.Struct({ date: Day, metric: Metric, quantity: Schema.Int, amount_usd: usd }))
}).annotate({ identifier: "BillingReport" })
export type BillingReport = typeof BillingReport.Type
