import { Schema } from "effect"
import { CountedOutcome } from "../events/EventNames.ts"
import { SummaryChannel } from "../messages/MessageSummary.ts"
import type { Timezone } from "../values/Locale.ts"
import { Timestamp } from "../values/Timestamp.ts"

/** How long the time of one row is. Days begin at midnight of a time zone. */
export const StatisticsUnit = Schema.Literals(["hour", "day"])
export type StatisticsUnit = typeof StatisticsUnit.Type

/** The messages that reached an outcome in an hour or a day. */
export const StatisticsRow = Schema.Struct({
  at: Timestamp.annotate({ description: "When the hour or the day began" }),
  channel: SummaryChannel,
  outcome: CountedOutcome,
  reason: Schema.String.annotate({ description: "Why they failed, such as an error code; else empty" }),
  count: Schema.Int
}).annotate({ identifier: "MessageStatistics" })
export type StatisticsRow = typeof StatisticsRow.Type

/** The asked time. Without a start, it is the last day for hours, and the last 30 days for days. */
export interface AskedStatistics {
  readonly from_date?: string | undefined
  readonly to_date?: string | undefined
  readonly granularity: StatisticsUnit
  readonly timezone: Timezone
  readonly channel?: SummaryChannel | undefined
}
