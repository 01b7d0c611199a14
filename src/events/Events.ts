import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ulid } from "../platform/crypto/ids.ts"
import { column } from "../platform/database/column.ts"
import * as Query from "../platform/database/Query.ts"
import { type AccountId, EventId, type WebhookId } from "../values/Ids.ts"
import { fromDateTime } from "../values/Timestamp.ts"
import type { EventData } from "./EventData.ts"
import type { EventName, MessageChannel } from "./EventNames.ts"
import { type CompiledPattern, matches } from "./EventPattern.ts"

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
}>()("messaging-service/events/Events/Subscriber") {}

/** A change in an account that its domain publishes. */
export interface DomainEvent<N extends EventName = EventName> {
  readonly accountId: AccountId
  readonly event: N
  /** For `message.*` events. */
  readonly channel?: MessageChannel
  readonly data: EventData<N>
}

/** Checks that the data fits the event's name. */
export const domainEvent = <N extends EventName>(value: DomainEvent<N>): DomainEvent => value

interface Stored {
  readonly id: EventId
  readonly accountId: AccountId
  readonly event: EventName
  readonly body: Uint8Array
}

/** The journal of events for webhooks. */
export class Events extends Context.Service<Events, {
  /**
   * Writes events with their deliveries in the caller's transaction. An event without a subscription is not stored,
   * because it could never be read.
   */
  readonly publish: (domainEvents: ReadonlyArray<DomainEvent>) => Effect.Effect<void>
}>()("messaging-service/events/Events") {
  static readonly layer = Layer.effect(
    Events,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const subscriber = yield* Subscriber

      const store = (events: ReadonlyArray<Stored>) =>
        Query.run(sql`insert into events (id, account_id, name, body)
          select * from unnest(${column.text(events.map(({ id }) => id))},
            ${column.int8(events.map(({ accountId }) => accountId))}, ${column.text(events.map(({ event }) => event))},
            ${column.bytea(events.map(({ body }) => body))})`)

      const publish = Effect.fn("Events.publish")(function*(domainEvents: ReadonlyArray<DomainEvent>) {
        if (domainEvents.length === 0) return
        const accounts = [...new Set(domainEvents.map(({ accountId }) => accountId))]
        const subscriptions = yield* subscriber.subscriptions(accounts)
        if (subscriptions.length === 0) return
        const timestamp = fromDateTime(yield* DateTime.now)
        const events: Array<Stored> = []
        const deliveries: Array<Addressed> = []
        for (const { accountId, channel, data, event } of domainEvents) {
          const listeners = subscriptions.filter((subscription) =>
            subscription.accountId === accountId && matches(subscription.pattern, { event, channel })
          )
          if (listeners.length === 0) continue
          const id = EventId.make(`evt_${yield* ulid}`)
          // Serialised once: every attempt of every delivery signs and sends the same bytes.
          const body = Buffer.from(JSON.stringify({ id, event, timestamp, data }))
          events.push({ id, accountId, event, body })
          for (const subscription of listeners) deliveries.push({ subscription, eventId: id, event, body })
        }
        if (events.length === 0) return
        yield* store(events)
        yield* subscriber.enqueue(deliveries)
      })

      return Events.of({ publish })
    })
  )
}
