import { Clock, Context, Effect, Layer } from "effect"
import { totalmem } from "node:os"
import { AppConfig } from "../config/AppConfig.ts"
import { exactMillisOf } from "../schedule/monotonic.ts"

const MiB = 1024 * 1024

/** How long a new message may have to wait for its answer, in milliseconds. An estimate may be too low by half. */
export const longestWait = 800

/** Requests that are always accepted: few of them wait for long only if each takes long. */
export const alwaysAccepted = 32

/** How often memory and speed are measured, in milliseconds. */
const interval = 250

/** How long a refusal counts as an overload, in milliseconds. */
const memoryMillis = 5_000

/** Answers per second of a node that has not been busy yet. */
const firstRate = 400

/** Answers per second that the estimate never falls below: a stalled database alone must not stop a node for long. */
const leastRate = 20

/** The share of the latest measurement in the estimate. */
const weight = 0.3

/**
 * Estimates how long a new request would wait: those in flight by the answers per second while the node was busy. It
 * assumes nothing about where they wait.
 */
export class AcceptanceGauge {
  #inFlight = 0
  #answered = 0
  #wasBusy = false
  #rate = firstRate

  get #isBusy(): boolean {
    return this.#inFlight >= alwaysAccepted / 2
  }

  /** Milliseconds that one more request would wait. */
  get wait(): number {
    return this.#inFlight < alwaysAccepted ? 0 : 1_000 * (this.#inFlight + 1) / this.#rate
  }

  begin(): void {
    this.#inFlight++
  }

  end(): void {
    this.#inFlight--
    this.#answered++
  }

  /** Ends a time of so many milliseconds. Only one that was busy says how fast the node is. */
  measure(millis: number): void {
    if (this.#wasBusy && this.#isBusy && millis > 0) {
      const measured = 1_000 * this.#answered / millis
      this.#rate = Math.max(leastRate, this.#rate + weight * (measured - this.#rate))
    }
    this.#wasBusy = this.#isBusy
    this.#answered = 0
  }
}

/** The bytes of resident memory above which a node refuses messages. */
export const memoryLimitOf = (memoryLimitMb: number | undefined): number => {
  const available = Math.min(process.constrainedMemory() || totalmem(), totalmem())
  return memoryLimitMb === undefined ? available * 0.75 : memoryLimitMb * MiB
}

interface Asked {
  readonly method: string
  readonly path: string
}

/** The paths that accept messages by POST. */
export class AcceptancePaths extends Context.Service<AcceptancePaths, { readonly has: (path: string) => boolean }>()(
  "messaging-service/platform/work/Overload/AcceptancePaths"
) {}

/**
 * Refuses new messages while this node could not answer them in time, or its memory is short. Messages that it has
 * accepted go on, and so do all other requests.
 */
export class Overload extends Context.Service<Overload, {
  /** Whether a request is refused: it would accept a message, and the node is overloaded. */
  readonly refuses: (request: Asked) => boolean
  /** Runs a request, or the refusal. */
  readonly guard: <A, E, R, E2>(
    request: Asked,
    work: Effect.Effect<A, E, R>,
    refusal: Effect.Effect<never, E2>
  ) => Effect.Effect<A, E | E2, R>
  /** Whether a message was refused within the last five seconds. */
  readonly isRecent: Effect.Effect<boolean>
}>()("messaging-service/platform/work/Overload") {
  static readonly layer = Layer.effect(
    Overload,
    Effect.gen(function*() {
      const paths = yield* AcceptancePaths
      const { memoryLimitMb } = yield* AppConfig
      const clock = yield* Clock.Clock
      const memoryLimit = memoryLimitOf(memoryLimitMb)
      const gauge = new AcceptanceGauge()
      let hasMemory = true
      let lastRefusal = -Infinity
      const millis = () => exactMillisOf(clock)
      let measuredAt = millis()
      const isRecent = Effect.sync(() => millis() < lastRefusal + memoryMillis)

      let isAnnounced = false
      const announce = Effect.gen(function*() {
        const isNew = !isAnnounced && (yield* isRecent)
        isAnnounced = yield* isRecent
        if (!isNew) return
        const facts = { wait_ms: Math.round(gauge.wait), short_of: hasMemory ? "time" : "memory" }
        yield* Effect.logWarning("this node is overloaded and refuses messages").pipe(Effect.annotateLogs(facts))
      })

      const measure = Effect.suspend(() => {
        const now = millis()
        gauge.measure(now - measuredAt)
        measuredAt = now
        hasMemory = process.memoryUsage.rss() < memoryLimit
        return announce
      })
      yield* measure.pipe(Effect.delay(interval), Effect.forever, Effect.forkScoped)

      const accepts = ({ method, path }: Asked) => method === "POST" && paths.has(path)
      const refuses = (request: Asked) => {
        const isRefused = accepts(request) && (!hasMemory || gauge.wait > longestWait)
        if (isRefused) lastRefusal = millis()
        return isRefused
      }

      return Overload.of({
        refuses,
        guard: <A, E, R, E2>(
          request: Asked,
          work: Effect.Effect<A, E, R>,
          refusal: Effect.Effect<never, E2>
        ) =>
          !accepts(request)
            ? work
            : Effect.suspend((): Effect.Effect<A, E | E2, R> => {
              if (refuses(request)) return refusal
              gauge.begin()
              return Effect.ensuring(work, Effect.sync(() => gauge.end()))
            }),
        isRecent
      })
    })
  )
}
