import { Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"

/** The actor of one webhook, keyed by its id. `Wake` is a volatile nudge: the deliveries themselves are rows. */
export const WebhookEntity = Entity.make("Webhook", [Rpc.make("Wake")])
