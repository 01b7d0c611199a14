import { Duration, Effect, Queue } from "effect"

/**
 * Makes a worker poll at once. Signals while the worker is busy count as one. A signal may get lost with its node, so a
 * worker polls without one as well.
 */
export interface Wakeup {
  readonly signal: Effect.Effect<void>
  readonly signalUnsafe: () => void
  /** Ends at the next signal, or after `timeout`. */
  readonly wait: (timeout?: Duration.Input) => Effect.Effect<void>
}

const make: Effect.Effect<Wakeup> = Effect.map(Queue.sliding<void>(1), (signals) => {
  const signalUnsafe = () => {
    Queue.offerUnsafe(signals, undefined)
  }
  return {
    signal: Effect.sync(signalUnsafe),
    signalUnsafe,
    wait: (timeout = Duration.infinity) => Effect.asVoid(Effect.timeoutOption(Queue.take(signals), timeout))
  }
})

export const Wakeup = { make }
