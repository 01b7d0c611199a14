import { Context, Layer } from "effect"
import type { WebhookId } from "../values/Ids.ts"
import type { Taken } from "./QueueRepo.ts"

/** An actor that is awake on this node. */
export interface Recipient {
  /**
   * Whether it would take so many deliveries that are about to be committed. The ticket is void as soon as the actor may
   * have looked for deliveries that are in nobody's hands.
   */
  readonly ticket: (count: number) => number | undefined
  /**
   * Takes deliveries that were committed as taken. False when the ticket is void or others have filled the room since, and
   * then they are in nobody's hands.
   */
  readonly accept: (ticket: number, deliveries: ReadonlyArray<Taken>) => boolean
  /** Has it look for deliveries that wait in the table, as a `Wake` would. */
  readonly nudge: () => void
}

/**
 * The way from a commit to the actor that has no database in it: where the actor of a webhook is awake on the node that
 * commits its deliveries, they are born taken and handed over with their bytes.
 */
export class Handover extends Context.Service<Handover, {
  /** The actors that are awake here. */
  readonly recipients: Map<WebhookId, Recipient>
}>()("messaging-service/webhooks/Handover") {
  static readonly layer = Layer.sync(Handover, () => Handover.of({ recipients: new Map() }))
}
