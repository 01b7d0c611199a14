import { Schema } from "effect"
import { Timestamp } from "../../values/Timestamp.ts"

/** Waiting deliveries of a webhook are counted up to this number. */
export const mostWaiting = 10_000

/** The attempts and the queue of a webhook in few numbers. */
export const AttemptFigures = Schema.Struct({
  succeeded: Schema.Int,
  failed: Schema.Int,
  p95_ms: Schema.NullOr(Schema.Int).annotate({
    description:
      "95 of 100 attempts took at most as many milliseconds, rounded up by less than a fifth; null without attempts"
  }),
  waiting: Schema.Int.annotate({
    description: `Deliveries that wait for their first or next attempt, counted up to ${
      mostWaiting.toLocaleString("en")
    }`
  }),
  oldest_waiting_at: Schema.NullOr(Timestamp)
})
export type AttemptFigures = typeof AttemptFigures.Type

/** The attempts of one hour. */
export const AttemptHour = Schema.Struct({
  at: Timestamp.annotate({ description: "When the hour began" }),
  succeeded: Schema.Int,
  failed: Schema.Int
})

/** The figures of a webhook in the current hour and the 23 before it. */
export const WebhookStatistics = Schema.Struct({
  ...AttemptFigures.fields,
  hours: Schema.Array(AttemptHour).annotate({ description: "24 hours, the oldest first; the last one is not over" })
}).annotate({ identifier: "WebhookStatistics" })
export type WebhookStatistics = typeof WebhookStatistics.Type
