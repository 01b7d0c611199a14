import { Effect, Schedule } from "effect"
import { Singleton } from "effect/cluster"
import { makeDeliveriesRepo } from "./DeliveriesRepo.ts"
import { Webhooks } from "./Webhooks.ts"

/**
 * One fiber in the cluster that wakes webhooks whose work nobody does: a lost nudge, a node that died. Durable work
 * never depends on a nudge.
 */
export const WebhookSweeper = Singleton.make(
  "WebhookSweeper",
  Effect.gen(function*() {
    const webhooks = yield* Webhooks
    const deliveries = yield* makeDeliveriesRepo
    const sweep = Effect.gen(function*() {
      const neglected = yield* deliveries.neglected()
      yield* webhooks.wake(neglected.map(({ id }) => id))
    })
    yield* sweep.pipe(
      Effect.tapCause((cause) => Effect.logDebug("a sweep over webhooks failed", cause)),
      Effect.ignoreCause,
      Effect.repeat(Schedule.spaced("1 second"))
    )
  })
)
