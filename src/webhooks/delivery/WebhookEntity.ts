import { Schema } from "effect"
import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"

/**
 * Why an actor is woken: it has new deliveries (`work`), its webhook was changed (`changed`), deliveries have waited for
 * too long (`waiting`), some have been claimed for long, so it should be awake (`claimed`), or for so long that they may be
 * orphaned (`orphaned`).
 */
export const WakeUpReason = Schema.Literals(["work", "changed", "waiting", "claimed", "orphaned"])
export type WakeUpReason = typeof WakeUpReason.Type

/**
 * The actor of one webhook, keyed by its id. `Wake` is a volatile wake-up: the deliveries themselves are rows. A `Wake` that
 * finds the actor asleep lasts as long as there is work, so it is interrupted when its node shuts down.
 */
export const WebhookEntity = Entity.make("Webhook", [
  Rpc.make("Wake", { payload: { reason: WakeUpReason } }).annotate(ClusterSchema.InterruptOnTermination, true)
])
