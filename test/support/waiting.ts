import { Clock, Effect, Schedule } from "effect"
import * as NodeUtil from "node:util"

/** How long a wait lasts before it fails. `.ci/run` doubles it, because the machines of others may be slow. */
const patience = process.env["SLOW_MACHINE"] === "true" ? "30 seconds" : "15 seconds"

/** Bounds for what takes longer by design. They are the same on every machine. */
export const longer = {
  /** A process, PostgreSQL or a page of the browser starts or ends, on processors that other test files use. */
  start: "60 seconds",
  /** A task has its turn every 10 seconds or more seldom, and a retry has a back-off of up to 30 seconds. */
  turn: "60 seconds",
  /** The locks of a dead node end after 12 seconds and its leases after 35; then another node does the work. */
  takeover: "90 seconds",
  /** Hundreds of messages or connections, or thousands of rows, have their turn, on processors that other test files use. */
  load: "90 seconds"
} as const

/** Runs with the real clock, because other processes do not follow a TestClock. */
export const live = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(effect, Clock.Clock, Clock.Clock.defaultValue())

/** An answer as its status and text, anything else as Node prints it. */
const shown = (seen: unknown): string => {
  const { status, text } = Object(seen)
  return (typeof text === "string" ? `${status} ${text}` : NodeUtil.inspect(seen, { depth: 4 })).slice(0, 2_000)
}

/** The failure of a wait, with what it saw last. */
const notAsExpected = (within: string, seen: unknown) =>
  new Error(`Not as expected within ${within}; last seen: ${shown(seen)}`)

/** Fails with the value last seen when the effect takes longer. */
export const inPatience = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  seen: () => unknown,
  within: `${number} seconds` = patience
): Effect.Effect<A, E, R> =>
  live(Effect.timeoutOrElse(effect, {
    duration: within,
    orElse: () => Effect.suspend(() => Effect.die(notAsExpected(within, seen())))
  }))

/** Reads every 20 ms until the value is as expected, and fails with the value last seen when the time is over. */
export const eventually = <A, E, R>(
  read: Effect.Effect<A, E, R>,
  isExpected: (seen: A) => boolean,
  within: `${number} seconds` = patience
): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    let seen: A | undefined
    const reading = Effect.tap(read, (value) => Effect.sync(() => void (seen = value)))
    return inPatience(
      Effect.repeat(reading, { until: isExpected, schedule: Schedule.spaced("20 millis") }),
      () => seen,
      within
    )
  })
