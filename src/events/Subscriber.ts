import { Context, type Effect } from "effect"
import type { AccountId, EventId, WebhookId } from "../values/Ids.ts"
import type { EventName } from "./EventNames.ts"
import type { CompiledPattern } from "./EventPattern.ts"

/** Who listens to what in an account. */
export interface Subscription {
  readonly webhookId: WebhookId
  readonly accountId: AccountId
  readonly pattern: CompiledPattern
  /** Why its events are written down and not sent, where that is so. */
  readonly refusal?: string | undefined
}

/** One event on its way to one listener. */
export interface Addressed {
  readonly subscription: Subscription
  readonly eventId: EventId
  readonly event: EventName
  readonly body: Uint8Array
}

/** A port: who takes events further. `webhooks` implements it. */
export class Subscriber extends Context.Service<Subscriber, {
  /** The listeners of these accounts as the database has them now. */
  readonly subscriptions: (accountIds: ReadonlyArray<AccountId>) => Effect.Effect<ReadonlyArray<Subscription>>
  /** Makes the deliveries durable in the caller's transaction and sees to it that they leave after its commit. */
  readonly enqueue: (deliveries: ReadonlyArray<Addressed>) => Effect.Effect<void>
}>()("messaging-service/events/Subscriber") {}
