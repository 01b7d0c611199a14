import { Duration, Effect, Schedule } from "effect"
import { delaysOf } from "../../../platform/schedule/delaysOf.ts"

/** The operator's settings for lost connections. */
export interface ReconnectSettings {
  /** Consecutive failed connections before a session is marked failed. */
  readonly whatsappRetries: number
  readonly whatsappRetrySeconds: number
  readonly whatsappRetryLongestSeconds: number
}

/** How long a connection must last before earlier failures are forgotten. */
export const stableAfter = Duration.seconds(60)

/** The pause after another client has logged in with the same credentials (440). */
export const replacedPause = Duration.seconds(30)

/**
 * The back-off of lost connections. Pauses double from the shortest to the longest, with a jitter of 20 % so that a
 * node's sessions do not reconnect all at once. The default makes 30 retries in about two hours.
 */
export const reconnectSchedule = (settings: ReconnectSettings) =>
  Schedule.exponential(Duration.seconds(settings.whatsappRetrySeconds)).pipe(
    Schedule.modifyDelay(({ duration }) =>
      Effect.succeed(Duration.min(duration, Duration.seconds(settings.whatsappRetryLongestSeconds)))
    ),
    Schedule.jittered,
    Schedule.upTo({ times: settings.whatsappRetries })
  )

/** The pause after this many consecutive failures. Past the end of the schedule its last pause applies. */
export const pauseAfter = (settings: ReconnectSettings, failures: number) =>
  Effect.sync(() => delaysOf(reconnectSchedule(settings)).slice(0, failures).at(-1) ?? Duration.zero)
