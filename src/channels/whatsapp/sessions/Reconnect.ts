import { Duration, Effect, Pull, Schedule } from "effect"

/** How lost connections are answered; settings of the operator. */
export interface ReconnectSettings {
  /** Connections in a row that may come to nothing before the session has failed. */
  readonly whatsappRetries: number
  readonly whatsappRetrySeconds: number
  readonly whatsappRetryLongestSeconds: number
}

/** How long a connection has to last before the ones that failed before it are forgotten. */
export const stableAfter = Duration.seconds(60)

/** How long the service keeps away once after somebody else has logged in with the same credentials (440). */
export const replacedPause = Duration.seconds(30)

/**
 * When a lost connection is made again: pauses that double from the least to the longest, each between 0.8 and 1.2 times
 * as long, so that the sessions of a node do not come back in one moment. With the defaults 30 retries in about two hours.
 */
export const reconnectSchedule = (settings: ReconnectSettings) =>
  Schedule.exponential(Duration.seconds(settings.whatsappRetrySeconds)).pipe(
    Schedule.modifyDelay(({ duration }) =>
      Effect.succeed(Duration.min(duration, Duration.seconds(settings.whatsappRetryLongestSeconds)))
    ),
    Schedule.jittered,
    Schedule.upTo({ times: settings.whatsappRetries })
  )

/**
 * The pause after so many failures in a row. They are counted in the session's row, where another node goes on, so the
 * schedule is walked to that place; past its end the last pause holds.
 */
export const pauseAfter = Effect.fnUntraced(function*(settings: ReconnectSettings, failures: number) {
  const step = yield* Schedule.toStep(reconnectSchedule(settings))
  let pause = Duration.zero
  const advance = Effect.suspend(() => step(0, undefined)).pipe(
    Effect.map(([, delay]) => {
      pause = delay
      return true
    }),
    Pull.catchDone(() => Effect.succeed(false))
  )
  for (let count = 0; count < failures && (yield* advance); count++);
  return pause
})
