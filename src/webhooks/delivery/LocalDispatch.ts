import { Context, Layer } from "effect"
import type { WebhookId } from "../../values/Ids.ts"
import type { ClaimedDelivery } from "./QueueRepo.ts"

/** An actor that is awake on this node. */
export interface LocalActor {
  /** Accepts deliveries that were just committed. Those that it does not take now, it finds in the table. */
  readonly accept: (deliveries: ReadonlyArray<ClaimedDelivery>) => void
  /** Makes it look for deliveries in the table, as a `Wake` would. */
  readonly wake: () => void
}

/**
 * Local dispatch: where the actor of a webhook is awake on the node that commits its deliveries, it gets them in memory,
 * with their bytes and without a poll.
 */
export class LocalDispatch extends Context.Service<LocalDispatch, {
  /** The actors that are awake on this node. */
  readonly actors: Map<WebhookId, LocalActor>
}>()("messaging-service/webhooks/delivery/LocalDispatch") {
  static readonly layer = Layer.sync(LocalDispatch, () => LocalDispatch.of({ actors: new Map() }))
}
