import { Context, type Effect } from "effect"
import type { AccountId, EventId, WebhookId } from "../values/Ids.ts"
import type { EventName } from "./EventNames.ts"
import type { CompiledPattern } from "./EventPattern.ts"

/** A subscription of an account. */
export interface Subscription {
  readonly webhookId: WebhookId
  readonly accountId: AccountId
  readonly pattern: CompiledPattern
  /** Why its events are recorded and not sent, if that is so. */
  readonly refusal?: string | undefined
}

/** One event for one subscription. */
export interface Addressed {
  readonly subscription: Subscription
  readonly eventId: EventId
  readonly event: EventName
  readonly body: Uint8Array
}

/** Receives events for delivery. A port, implemented by `webhooks`. */
export class Subscriber extends Context.Service<Subscriber, {
  /** The current subscriptions of these accounts in the database. */
  readonly subscriptions: (accountIds: ReadonlyArray<AccountId>) => Effect.Effect<ReadonlyArray<Subscription>>
  /** Writes the deliveries in the caller's transaction and dispatches them after its commit. */
  readonly enqueue: (deliveries: ReadonlyArray<Addressed>) => Effect.Effect<void>
}>()("messaging-service/events/Subscriber") {}
