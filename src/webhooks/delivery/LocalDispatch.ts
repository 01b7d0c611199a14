import { Context, Layer } from "effect"
import type { WebhookId } from "../../values/Ids.ts"
import type { Taken } from "./QueueRepo.ts"

/** An actor that is awake on this node. */
export interface Recipient {
  /** Tells it of deliveries that were just committed: those that it does not take now it finds in the table. */
  readonly accept: (deliveries: ReadonlyArray<Taken>) => void
  /** Has it look for deliveries that wait in the table, as a `Wake` would. */
  readonly nudge: () => void
}

/**
 * The way from a commit to the actor that has no database in it: where the actor of a webhook is awake on the node that
 * commits its deliveries, they are handed over with their bytes.
 */
export class LocalDispatch extends Context.Service<LocalDispatch, {
  /** The actors that are awake here. */
  readonly recipients: Map<WebhookId, Recipient>
}>()("messaging-service/webhooks/delivery/LocalDispatch") {
  static readonly layer = Layer.sync(LocalDispatch, () => LocalDispatch.of({ recipients: new Map() }))
}
