import { Schema } from "effect"
import { Account } from "../accounts/Account.ts"
import { Day } from "../values/Day.ts"
import { Plan } from "../values/Plan.ts"
import { Timestamp } from "../values/Timestamp.ts"
import { Metered, Metric } from "./Metric.ts"

const usd = Schema.Finite.annotate({ description: "US dollars" })

/** Days in UTC from the first one on and before the last one. */
const Period = Schema.Struct({ from: Day, to: Day })

/** What was used of something. */
const UsedMetric = Schema.Struct({ metric: Metric, count: Schema.Int, cost_usd: usd })

/** How much of a quota is used in the running month; null where the plan has no limit. */
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
    description: "More SMS in the running month than the plans are made for; ask for a price of your own"
  })
})
export type UsageReport = typeof UsageReport.Type

/** How days are put together: a week begins on its Monday, a month on its first; both are named by that day. */
export const Granularity = Schema.Literals(["day", "week", "month"])
export type Granularity = typeof Granularity.Type

/** What was used of something in a day, a week or a month; there is none for what was not used. */
export const UsedInTime = Schema.Struct({ date: Day, ...UsedMetric.fields })
export type UsedInTime = typeof UsedInTime.Type

export const BillingReport = Schema.Struct({
  plan: Plan,
  status: Account.fields.status,
  trial_ends_at: Account.fields.trial_ends_at,
  period: Period,
  currency: Schema.Literal("USD"),
  amount_usd: usd,
  lines: Schema.Array(Schema.Struct({ date: Day, metric: Metric, quantity: Schema.Int, amount_usd: usd }))
})
export type BillingReport = typeof BillingReport.Type
