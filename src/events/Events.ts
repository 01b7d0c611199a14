import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ulid } from "../platform/crypto/ids.ts"
import { column } from "../platform/database/column.ts"
import * as Query from "../platform/database/Query.ts"
import { type AccountId, EventId } from "../values/Ids.ts"
import { fromDateTime } from "../values/Timestamp.ts"
import type { EventData } from "./EventData.ts"
import type { EventName, MessageChannel } from "./EventNames.ts"
import { matches } from "./EventPattern.ts"
import { type Addressed, Subscriber } from "./Subscriber.ts"

/** Something that happened in an account. */
export interface DomainEvent<N extends EventName = EventName> {
  readonly accountId: AccountId
  readonly event: N
  /** Of `message.*` events. */
  readonly channel?: MessageChannel
  readonly data: EventData<N>
}

/** Ties the name to its payload where a domainEvent is written down. */
export const domainEvent = <N extends EventName>(value: DomainEvent<N>): DomainEvent => value

interface Stored {
  readonly id: EventId
  readonly accountId: AccountId
  readonly event: EventName
  readonly body: Uint8Array
}

/** The journal of what webhooks are told. */
export class Events extends Context.Service<Events, {
  /**
   * Writes events with their deliveries in the caller's transaction: after a crash both are there or neither is. An
   * event that nobody listens to leaves no row, as nothing could ever read it.
   */
  readonly publish: (happenings: ReadonlyArray<DomainEvent>) => Effect.Effect<void>
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

      const publish = Effect.fn("Events.publish")(function*(happenings: ReadonlyArray<DomainEvent>) {
        if (happenings.length === 0) return
        const accounts = [...new Set(happenings.map(({ accountId }) => accountId))]
        const subscriptions = yield* subscriber.subscriptions(accounts)
        if (subscriptions.length === 0) return
        const timestamp = fromDateTime(yield* DateTime.now)
        const events: Array<Stored> = []
        const deliveries: Array<Addressed> = []
        for (const { accountId, channel, data, event } of happenings) {
          const listeners = subscriptions.filter((subscription) =>
            subscription.accountId === accountId && matches(subscription.pattern, { event, channel })
          )
          if (listeners.length === 0) continue
          const id = EventId.make(`evt_${yield* ulid}`)
          // Serialised once: every attempt of every delivery signs and sends these bytes.
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
