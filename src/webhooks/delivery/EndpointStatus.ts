import { Clock, Effect, Option } from "effect"
import type { WebhookId } from "../../values/Ids.ts"
import { Targets } from "../endpoint/Targets.ts"
import type { UnhealthyReason } from "../endpoint/Webhook.ts"
import { makeBacklogGuard } from "./BacklogGuard.ts"
import { makeCourier } from "./DeliveryAttempt.ts"
import type { Claims } from "./DeliveryQueue.ts"
import type { InFlightDeliveries } from "./InFlightDeliveries.ts"

/** How long the actor may believe what it has read of its webhook: a nudge about a change may have got lost. */
const believedMillis = 1000

/** How often what waits is counted. */
const countedMillis = 5000

/** What an actor knows of its webhook: where deliveries go now, or why they do not. */
export const makeStanding = Effect.fnUntraced(
  function*(id: WebhookId, { claims, slots }: { readonly claims: Claims; readonly slots: InFlightDeliveries }) {
    const clock = yield* Clock.Clock
    const targets = yield* Targets
    const { destination } = yield* makeCourier
    const checkBacklog = yield* makeBacklogGuard(id)
    let standing: "off" | "well" | UnhealthyReason = "off"
    let readAt = 0
    let outdated = false
    let countedAt = 0

    const isDeliverable = () => standing === "well" || standing === "backlog_full"

    return {
      isDeliverable,
      /** Switched off, or deleted. */
      isOff: () => standing === "off",
      /** Whether it must be read again before anything new is sent: the actor was told so, or has slept on it. */
      isOld: () => outdated || clock.currentTimeMillisUnsafe() > readAt + 2 * believedMillis,
      endsAt: () => outdated ? 0 : readAt + believedMillis,
      /** It must be read again, however young what is known is. */
      outdate: () => {
        outdated = true
      },
      refresh: Effect.gen(function*() {
        outdated = false
        const target = Option.getOrUndefined(yield* targets.read(id))
        readAt = clock.currentTimeMillisUnsafe()
        standing = target === undefined || !target.is_active ? "off" : target.unhealthy_reason ?? "well"
        slots.sendTo(target !== undefined && isDeliverable() ? yield* destination(id, target) : undefined)
        const mayBeFull = isDeliverable() && (!claims.caughtUp() || standing === "backlog_full")
        if (!mayBeFull || readAt < countedAt + countedMillis) return
        countedAt = readAt
        yield* checkBacklog(standing)
      })
    }
  }
)
