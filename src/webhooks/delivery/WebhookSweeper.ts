import { Effect, Layer, Schedule } from "effect"
import { Singleton } from "effect/cluster"
import { QueueRepo } from "./QueueRepo.ts"
import { makeNudges } from "./WakeUps.ts"

/**
 * One fiber in the cluster that wakes webhooks whose work nobody does: a lost nudge, a node that died. Durable work
 * never depends on a nudge.
 */
export const WebhookSweeper = Singleton.make(
  "WebhookSweeper",
  Effect.gen(function*() {
    const { nudge } = yield* makeNudges
    const queue = yield* QueueRepo
    const sweep = Effect.gen(function*() {
      yield* nudge(yield* queue.findStalled())
    })
    yield* sweep.pipe(
      Effect.tapCause((cause) => Effect.logDebug("a sweep over webhooks failed", cause)),
      Effect.ignoreCause,
      Effect.repeat(Schedule.spaced("1 second"))
    )
  })
).pipe(Layer.provide(QueueRepo.layer))
