import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"

/**
 * The actor of one webhook, keyed by its id. `Wake` is a volatile nudge: the deliveries themselves are rows. The one that
 * found the actor asleep lasts as long as there is work, hence the interruption when the node leaves.
 */
export const WebhookEntity = Entity.make("Webhook", [
  Rpc.make("Wake").annotate(ClusterSchema.InterruptOnTermination, true)
])
