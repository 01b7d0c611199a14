/** The numbers of messages, made of the rows of the statistics. Pure. */
import { DateTime, Duration } from "effect"
import type { CountedOutcome } from "../../../events/EventNames.ts"
import type { SummaryChannel } from "../../../messages/MessageSummary.ts"
import type { StatisticsRow } from "../../../overview/StatisticsRow.ts"
import type { Timezone } from "../../../values/Locale.ts"

/** The times in which a graph can show the messages. */
export const ranges = {
  "24h": { unit: "hour", hours: 24 },
  "7d": { unit: "day", hours: 7 * 24 },
  "30d": { unit: "day", hours: 30 * 24 },
  "90d": { unit: "day", hours: 90 * 24 }
} as const
export type Range = keyof typeof ranges

export const rangeOf = (text: string | null): Range =>
  (Object.keys(ranges) as ReadonlyArray<Range>).find((range) => range === text) ?? "24h"

const sum = (rows: ReadonlyArray<StatisticsRow>, outcome: CountedOutcome) =>
  rows.reduce((total, row) => row.outcome === outcome ? total + row.count : total, 0)

/** The numbers that a table of channels shows. */
export const shownOutcomes = ["accepted", "sent", "delivered", "failed"] as const

/** A number with its difference to the week before, up to this hour. */
export interface Compared {
  readonly now: number
  readonly change: number
}

/** The numbers of a channel today. */
export interface ChannelNumbers {
  readonly channel: SummaryChannel
  readonly counts: Readonly<Record<(typeof shownOutcomes)[number], Compared>>
}

/** Rows of hours. */
interface Hours {
  readonly today: ReadonlyArray<StatisticsRow>
  /** Those of today that are over: this hour would be compared with a whole one. */
  readonly over: ReadonlyArray<StatisticsRow>
  /** The same hours a week before. */
  readonly lastWeek: ReadonlyArray<StatisticsRow>
}

export const numbersOf = (channel: SummaryChannel, { lastWeek, over, today }: Hours): ChannelNumbers => {
  const own = (rows: ReadonlyArray<StatisticsRow>, outcome: CountedOutcome) =>
    sum(rows.filter((row) => row.channel === channel), outcome)
  const compared = (outcome: CountedOutcome) => ({
    now: own(today, outcome),
    change: own(over, outcome) - own(lastWeek, outcome)
  })
  return {
    channel,
    counts: {
      accepted: compared("accepted"),
      sent: compared("sent"),
      delivered: compared("delivered"),
      failed: compared("failed")
    }
  }
}

/** The parts of a column, from below. */
export const stackedOutcomes = ["delivered", "sent", "failed", "suppressed"] as const

/** The parts of the column of an hour or a day. A delivered message was sent before, and counts once. */
export const stackOf = (rows: ReadonlyArray<StatisticsRow>): ReadonlyArray<number> => {
  const delivered = sum(rows, "delivered")
  return [delivered, Math.max(0, sum(rows, "sent") - delivered), sum(rows, "failed"), sum(rows, "suppressed")]
}

/** The beginnings of the hours or days of a range, the oldest first. */
export const timesOf = (range: Range, now: DateTime.Utc, timezone: Timezone): ReadonlyArray<DateTime.Zoned> => {
  const { hours, unit } = ranges[range]
  const last = DateTime.startOf(DateTime.makeZonedUnsafe(now, { timeZone: timezone }), unit)
  const count = unit === "hour" ? hours : hours / 24
  return Array.from({ length: count }, (_, index) => {
    const back = count - 1 - index
    return DateTime.subtract(last, unit === "hour" ? { hours: back } : { days: back })
  })
}

/**
 * When a quota of the month would be used up at the pace of the month so far. Undefined if it lasts, if it is used up
 * already, and on the first day, whose pace says little.
 */
export const runsOutAt = (
  { limit, resets_at, used }: { readonly limit: number | null; readonly used: number; readonly resets_at: string },
  now: DateTime.DateTime
): DateTime.DateTime | undefined => {
  const end = DateTime.toUtc(DateTime.makeUnsafe(resets_at))
  const elapsed = Duration.toMillis(DateTime.distance(DateTime.subtract(end, { months: 1 }), now))
  if (limit === null || used === 0 || used >= limit || elapsed < Duration.toMillis("1 day")) return undefined
  const at = DateTime.add(now, { milliseconds: Math.round((limit - used) * elapsed / used) })
  return DateTime.isLessThan(at, end) ? at : undefined
}
