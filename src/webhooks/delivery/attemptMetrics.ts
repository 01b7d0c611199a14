import { ulidMillis } from "../../platform/crypto/ids.ts"
import { countersBy, histogram } from "../../platform/observability/series.ts"
import type { AttemptRecord } from "./DeliveryAttempt.ts"
import { DeliveryError } from "./DeliveryState.ts"
import type { ClaimedDelivery } from "./QueueRepo.ts"

const boundaries = [5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 60_000, 600_000, 3_600_000]

const attempts = countersBy({
  name: "webhook_attempts_total",
  description: "Attempts to deliver an event, by outcome",
  label: "outcome",
  values: ["delivered", ...DeliveryError.literals]
})

const durations = histogram(
  "webhook_attempt_duration_milliseconds",
  "From the request of an attempt to the end of its answer",
  boundaries
)

const lag = histogram(
  "webhook_lag_milliseconds",
  "From an event to the first attempt to deliver it; a redelivery counts from its event",
  boundaries
)

/** Counts an attempt of this node. Tests that callers request do not count. */
export const countAttempt = (
  { attempt_count, event_id }: ClaimedDelivery,
  { durationMs, startedAt, transition }: AttemptRecord
): void => {
  attempts(transition.error ?? "delivered")
  durations(durationMs)
  // The id of an event carries the time of its node, whose clock may differ.
  if (attempt_count === 0) lag(Math.max(0, startedAt - ulidMillis(event_id.slice("evt_".length))))
}
