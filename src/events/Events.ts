import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { Statement } from "effect/sql"
import { ulid } from "../platform/crypto/ids.ts"
import { column } from "../platform/database/column.ts"
import * as Query from "../platform/database/Query.ts"
import { type AccountId, type DeliveryId, EventId, type WebhookId } from "../values/Ids.ts"
import { modeOf } from "../values/TestMode.ts"
import type { Timestamp } from "../values/Timestamp.ts"
import type { EventData } from "./EventData.ts"
import { type EventFilter, passes } from "./EventFilter.ts"
import type { EventName, MessageChannel, Topic } from "./EventNames.ts"
import { type CompiledPattern, matches, patternsOf } from "./EventPattern.ts"
import { addCounts, type CountedMessages, countsOf } from "./MessageCounts.ts"

/** A subscription of an account. */
export interface Subscription {
  readonly webhookId: WebhookId
  readonly accountId: AccountId
  readonly pattern: CompiledPattern
  readonly filter: EventFilter
  /** Why its events are recorded and not sent, if that is so. */
  readonly refusal?: string | undefined
  /** The database's time when it was read. */
  readonly now: Timestamp
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
  /**
   * Writes the deliveries in the caller's transaction and dispatches them after its commit. Returns their ids in the same
   * order.
   */
  readonly enqueue: (deliveries: ReadonlyArray<Addressed>) => Effect.Effect<ReadonlyArray<DeliveryId>>
  /** A condition of a statement: the account has an active subscription with one of these patterns. */
  readonly isSubscribed: (account: Statement.Fragment, patterns: ReadonlyArray<string>) => Statement.Fragment
}>()("messaging-service/events/Events/Subscriber") {}

/** A change in an account that its domain publishes. */
export interface DomainEvent<N extends EventName = EventName> {
  readonly accountId: AccountId
  readonly event: N
  /** For `message.*` events. */
  readonly channel?: MessageChannel
  readonly data: EventData<N>
  /** Why a message failed, for the statistics, if the data has no code for it. */
  readonly reason?: string
  /** A webhook that does not get it. */
  readonly except?: WebhookId
}

/** Checks that the data fits the event's name. */
export const domainEvent = <N extends EventName>(value: DomainEvent<N>): DomainEvent => value

interface Stored {
  readonly id: EventId
  readonly accountId: AccountId
  readonly event: EventName
  readonly body: Uint8Array
  readonly channel: string | null
  readonly messageId: number | null
  readonly subject: string | null
  /** The webhooks that get it. */
  readonly webhookIds: ReadonlyArray<WebhookId>
}

/** The message that an event is about, as far as it is about one. */
const messageOf = ({ channel, data, event }: DomainEvent): Pick<Stored, "channel" | "messageId"> => {
  if ("message_id" in data && typeof data.message_id === "number") {
    return { channel: channel ?? null, messageId: data.message_id }
  }
  return event.startsWith("email.") && "id" in data && typeof data.id === "number"
    ? { channel: "email", messageId: data.id }
    : { channel: null, messageId: null }
}

/** The message with failover or the verification that an event is about. */
const subjectOf = ({ data }: DomainEvent): string | null =>
  "verification_id" in data ? data.verification_id : "id" in data && typeof data.id === "string" ? data.id : null

/** The journal of events for webhooks. */
export class Events extends Context.Service<Events, {
  /**
   * Writes events with their deliveries in the caller's transaction. An event without a subscription is not stored,
   * because it could never be read. The statistics count the event in any case.
   */
  readonly publish: (domainEvents: ReadonlyArray<DomainEvent>) => Effect.Effect<void>
  /** Publishes the events that `read` returns. It runs only if the account subscribes to the topic. */
  readonly publishWanted: (
    accountId: AccountId,
    topic: Topic,
    read: Effect.Effect<ReadonlyArray<DomainEvent>>
  ) => Effect.Effect<void>
  /** Counts messages in the statistics that have no event, in the caller's transaction. */
  readonly count: (counts: ReadonlyArray<CountedMessages>) => Effect.Effect<void>
  /** A condition of a statement of the caller: the account subscribes to the topic. It spares frequent events a query. */
  readonly isWanted: (account: Statement.Fragment, topic: Topic) => Statement.Fragment
}>()("messaging-service/events/Events") {
  static readonly layer = Layer.effect(
    Events,
    Effect.gen(function*() {
      const sql = yield* PgClient.PgClient
      const subscriber = yield* Subscriber

      /** `deliveryIds` has those of the first event, then those of the second, and so on. */
      const store = (events: ReadonlyArray<Stored>, deliveryIds: ReadonlyArray<DeliveryId>) => {
        let next = 0
        const deliveries = events.map(({ webhookIds }) => {
          const from = next
          next += webhookIds.length
          return deliveryIds.slice(from, next)
        })
        return Query.run(sql`insert into events
            (id, account_id, name, body, channel, message_id, subject, webhook_ids, delivery_ids)
          select id, account_id, name, body, channel, message_id, subject, webhook_ids::bigint[], delivery_ids::bigint[]
          from unnest(${column.text(events.map(({ id }) => id))},
            ${column.int8(events.map(({ accountId }) => accountId))}, ${column.text(events.map(({ event }) => event))},
            ${column.bytea(events.map(({ body }) => body))}, ${column.text(events.map(({ channel }) => channel))},
            ${column.int8(events.map(({ messageId }) => messageId))},
            ${column.text(events.map(({ subject }) => subject))},
            ${column.text(events.map(({ webhookIds }) => `{${webhookIds.join()}}`))},
            ${column.text(deliveries.map((ids) => `{${ids.join()}}`))})
            as t (id, account_id, name, body, channel, message_id, subject, webhook_ids, delivery_ids)`)
      }

      const publish = Effect.fn("Events.publish")(function*(domainEvents: ReadonlyArray<DomainEvent>) {
        if (domainEvents.length === 0) return
        yield* addCounts(sql, countsOf(domainEvents))
        const accounts = [...new Set(domainEvents.map(({ accountId }) => accountId))]
        const subscriptions = yield* subscriber.subscriptions(accounts)
        const timestamp = subscriptions[0]?.now
        if (timestamp === undefined) return
        const events: Array<Stored> = []
        const deliveries: Array<Addressed> = []
        for (const domainEvent of domainEvents) {
          const { accountId, channel, data, event, except } = domainEvent
          const topic = { event, channel: channel ?? ("channel" in data ? data.channel : undefined) }
          const listeners = subscriptions.filter((subscription) =>
            subscription.accountId === accountId
            && subscription.webhookId !== except
            && matches(subscription.pattern, topic)
            && passes(subscription.filter, { event, channel, data })
          )
          if (listeners.length === 0) continue
          const id = EventId.make(`evt_${yield* ulid}`)
          // Serialised once: every attempt of every delivery signs and sends the same bytes.
          const body = Buffer.from(JSON.stringify({ id, event, mode: modeOf(accountId), timestamp, data }))
          const webhookIds = listeners.map(({ webhookId }) => webhookId)
          const subject = subjectOf(domainEvent)
          events.push({ id, accountId, event, body, ...messageOf(domainEvent), subject, webhookIds })
          for (const subscription of listeners) deliveries.push({ subscription, eventId: id, event, body })
        }
        if (events.length === 0) return
        yield* store(events, yield* subscriber.enqueue(deliveries))
      })

      const publishWanted = Effect.fn("Events.publishWanted")(
        function*(accountId: AccountId, topic: Topic, read: Effect.Effect<ReadonlyArray<DomainEvent>>) {
          const subscriptions = yield* subscriber.subscriptions([accountId])
          if (subscriptions.some(({ pattern }) => matches(pattern, topic))) yield* publish(yield* read)
        }
      )

      return Events.of({
        publish,
        publishWanted,
        count: (counts) => addCounts(sql, counts),
        isWanted: (account, topic) => subscriber.isSubscribed(account, patternsOf(topic))
      })
    })
  )
}
