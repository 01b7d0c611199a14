import type { WebhookId } from "../../values/Ids.ts"
import type { HealthSign } from "./DeliveryState.ts"

/** What a group of outcomes says about one webhook. */
export interface HealthChange {
  readonly id: WebhookId
  /** Whether a delivery succeeded at all. */
  readonly succeeded: boolean
  /** Deliveries that were used up after the last success. */
  readonly exhausted: number
  /** Whether one of these met 410 Gone in every attempt. */
  readonly gone: boolean
}

interface Sign {
  readonly webhookId: WebhookId
  readonly transition: { readonly health: HealthSign }
}

/** Sums the signs of many deliveries, in their order, up to one change for each webhook that they tell something of. */
export const healthChanges = (signs: ReadonlyArray<Sign>): ReadonlyArray<HealthChange> => {
  const changes = new Map<WebhookId, HealthChange>()
  for (const { transition: { health }, webhookId: id } of signs) {
    if (health === "undecided") continue
    const before = changes.get(id) ?? { id, succeeded: false, exhausted: 0, gone: false }
    changes.set(
      id,
      health === "success"
        ? { id, succeeded: true, exhausted: 0, gone: false }
        : { ...before, exhausted: before.exhausted + 1, gone: before.gone || health === "gone" }
    )
  }
  return [...changes.values()]
}

/** `failure_count` of the webhook: deliveries in a row that used up every attempt; any success sets it to 0. */
export const failureCount = (count: number, { exhausted, succeeded }: HealthChange): number =>
  (succeeded ? 0 : count) + exhausted
