import { type Cause, Clock, Context, Effect, Layer, Option } from "effect"
import { DatabaseUnreachable } from "./DatabaseUnreachable.ts"
import { outageIn } from "./unavailable.ts"

/** How long one failure counts. */
const memoryNanos = 5_000_000_000n

/**
 * Failures of requests that blame the whole server. A full disk, or a lack of memory or connections, cannot be asked for:
 * a query that reads still answers.
 */
export class Outages extends Context.Service<Outages, {
  /** Notes the failure of a request, if it blames the server, and logs it with what to do, unless the outage is known. */
  readonly note: (cause: Cause.Cause<unknown>) => Effect.Effect<void>
  /** Whether the server failed a request of this node within the last five seconds. */
  readonly isRecent: Effect.Effect<boolean>
}>()("messaging-service/platform/database/Outages") {
  static readonly layer = Layer.sync(Outages, () => {
    let lastNanos: bigint | undefined
    // Setting the machine's clock back must not prolong an outage.
    const isRecent = Effect.map(
      Clock.monotonicTimeNanos,
      (now) => lastNanos !== undefined && now < lastNanos + memoryNanos
    )
    return Outages.of({
      isRecent,
      note: Effect.fnUntraced(function*(cause) {
        const error = Option.getOrUndefined(outageIn(cause))
        if (error === undefined) return
        const isKnown = yield* isRecent
        lastNanos = yield* Clock.monotonicTimeNanos
        if (isKnown) return
        const { reason, remedy } = DatabaseUnreachable.from(error)
        yield* Effect.logWarning("PostgreSQL fails requests").pipe(Effect.annotateLogs({ reason, remedy }))
      })
    })
  })
}
