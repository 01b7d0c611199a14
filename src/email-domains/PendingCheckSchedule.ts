import { Duration, Schedule } from "effect"
import { delaysOf } from "../platform/schedule/delaysOf.ts"

const spaced = (pause: Duration.Input, times: number) => Schedule.spaced(pause).pipe(Schedule.upTo({ times }))

/** When a pending domain is checked: each minute for 5 minutes, every 10 minutes for an hour, hourly until three days. */
export const PendingCheckSchedule = spaced("1 minute", 5).pipe(
  Schedule.concat(spaced("10 minutes", 6)),
  Schedule.concat(spaced("1 hour", 71))
)

/** Each pause with the time since the domain became pending at which it ends. */
const pauses = delaysOf(PendingCheckSchedule).reduce<
  ReadonlyArray<{ readonly pause: Duration.Duration; readonly end: Duration.Duration }>
>(
  (before, pause) => [...before, { pause, end: Duration.sum(before.at(-1)?.end ?? Duration.zero, pause) }],
  []
)

/** The pause before the next check of a domain that has been pending for this long; undefined after the last check. */
export const nextPendingCheck = (pendingFor: Duration.Duration): Duration.Duration | undefined =>
  pauses.find(({ end }) => Duration.isLessThan(pendingFor, end))?.pause
