import { DateTime, Duration, Effect } from "effect"
import { ValidationFailed } from "../platform/http/ApiErrors.ts"

/** The time that a request for figures asks for, until now by default, in milliseconds since 1970. */
export const askedPeriod = Effect.fnUntraced(function*(
  { from_date, to_date }: { readonly from_date?: string | undefined; readonly to_date?: string | undefined },
  { most, usual }: Readonly<Record<"most" | "usual", `${number} ${"hours" | "days"}`>>
) {
  const to = to_date === undefined ? yield* DateTime.now : DateTime.makeUnsafe(to_date)
  const from = from_date === undefined ? DateTime.subtractDuration(to, usual) : DateTime.makeUnsafe(from_date)
  const length = DateTime.distance(from, to)
  if (Duration.toMillis(length) <= 0) return yield* ValidationFailed.of("to_date", "must be after from_date")
  if (Duration.isGreaterThan(length, Duration.fromInputUnsafe(most))) {
    return yield* ValidationFailed.of("from_date", `must be at most ${most} before to_date`)
  }
  return { from: DateTime.toEpochMillis(from), to: DateTime.toEpochMillis(to) }
})
