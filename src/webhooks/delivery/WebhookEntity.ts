import { Schema } from "effect"
import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"

/**
 * Why an actor is nudged: deliveries are there for it (`work`), its webhook is another than before (`changed`),
 * deliveries wait for too long (`waiting`), some are in its hands for long, so it should be awake (`held`), or for so
 * long that they may be in nobody's (`lost`).
 */
export const NudgeReason = Schema.Literals(["work", "changed", "waiting", "held", "lost"])
export type NudgeReason = typeof NudgeReason.Type

/**
 * The actor of one webhook, keyed by its id. `Wake` is a volatile nudge: the deliveries themselves are rows. The one that
 * found the actor asleep lasts as long as there is work, hence the interruption when the node leaves.
 */
export const WebhookEntity = Entity.make("Webhook", [
  Rpc.make("Wake", { payload: { reason: NudgeReason } }).annotate(ClusterSchema.InterruptOnTermination, true)
])
