import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Exit, Layer, Schema } from "effect"
import { SqlClient, Statement } from "effect/sql"
import { TestClock } from "effect/testing"
import { compile } from "../../src/events/EventPattern.ts"
import { type Addressed, type DomainEvent, domainEvent, Events, Subscriber } from "../../src/events/Events.ts"
import { createPartitions, dropPartitions } from "../../src/platform/database/Partitions.ts"
import { AccountId, DeliveryId, EmailMessageId, WebhookId } from "../../src/values/Ids.ts"
import { noLabels } from "../../src/values/Labels.ts"
import { Timestamp } from "../../src/values/Timestamp.ts"
import { recreatePartitions } from "../support/partitions.ts"
import { TestDatabase, transaction } from "../support/TestDatabase.ts"

const enqueued: Array<Addressed> = []

const listener = (webhookId: number, accountId: number, events: ReadonlyArray<string>) => ({
  webhookId: WebhookId.make(webhookId),
  accountId: AccountId.make(accountId),
  pattern: compile(events),
  filter: { channels: [], tags: [] },
  now: Timestamp.make("2030-01-31T09:30:00.000000Z")
})

/** Account 1 subscribes to everything and to email, account 2 to messages, account 3 to nothing. */
const listeners = [listener(11, 1, ["*"]), listener(12, 1, ["email.*"]), listener(21, 2, ["sms.*"])]

const Listeners = Layer.succeed(
  Subscriber,
  Subscriber.of({
    subscriptions: (accounts) => Effect.succeed(listeners.filter(({ accountId }) => accounts.includes(accountId))),
    isSubscribed: () => Statement.fragment([Statement.literal("true")]),
    enqueue: (deliveries) =>
      Effect.sync(() => {
        const first = enqueued.push(...deliveries) - deliveries.length
        return deliveries.map((_, index) => DeliveryId.make(100 + first + index))
      })
  })
)

const Subject = Events.layer.pipe(Layer.provide(Listeners), Layer.provideMerge(TestDatabase.layer))

const sent = (account: number): DomainEvent =>
  domainEvent({
    accountId: AccountId.make(account),
    event: "email.sent",
    data: {
      id: EmailMessageId.make(1),
      batch_id: null,
      to: "a@b.example",
      ...noLabels,
      subject: "ü \u2028",
      sent_at: Timestamp.make("2030-01-31T09:00:00.000000Z")
    }
  })

const Row = Schema.Struct({
  id: Schema.String,
  account_id: Schema.Int,
  name: Schema.String,
  body: Schema.Uint8Array,
  webhook_ids: Schema.Array(Schema.Int),
  delivery_ids: Schema.Array(Schema.Int)
})

/** Publishes to an empty journal and returns the rows. */
const publishing = Effect.fnUntraced(function*(events: ReadonlyArray<DomainEvent>) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`truncate events`
  enqueued.length = 0
  yield* (yield* Events).publish(events)
  const rows = yield* sql`select id, account_id, name, body, webhook_ids, delivery_ids from events order by id`
  return yield* Schema.decodeUnknownEffect(Schema.Array(Row))(rows)
})

layer(Subject, { excludeTestServices: true })("Events", (it) => {
  it.effect("an event is stored once, with the bytes that all its deliveries send", () =>
    Effect.gen(function*() {
      const [row, ...others] = yield* publishing([sent(1)])
      assert.deepStrictEqual(others, [])
      const body: unknown = JSON.parse(Buffer.from(row?.body ?? []).toString("utf8"))
      const timestamp = "2030-01-31T09:30:00.000000Z"
      assert.deepInclude(body, { id: row?.id, event: "email.sent", timestamp, data: sent(1).data })
      assert.match(row?.id ?? "", /^evt_[0-9A-HJKMNP-TV-Z]{26}$/)
      assert.deepStrictEqual(enqueued.map(({ eventId, subscription }) => [eventId, Number(subscription.webhookId)]), [
        [row?.id, 11],
        [row?.id, 12]
      ])
    }))

  it.effect("each event names its webhooks and its deliveries", () =>
    Effect.gen(function*() {
      const rows = yield* publishing([sent(1), sent(3), sent(1)])
      // Ids of one millisecond are in any order.
      assert.sameDeepMembers(rows.map(({ delivery_ids, webhook_ids }) => [webhook_ids, delivery_ids]), [
        [[11, 12], [100, 101]],
        [[11, 12], [102, 103]]
      ])
    }))

  it.effect("an event without a subscription is not stored", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* publishing([]), [])
      assert.deepStrictEqual(yield* publishing([sent(2), sent(3)]), [])
      assert.deepStrictEqual(enqueued, [])
    }))

  it.effect("an account never receives another account's events", () =>
    Effect.gen(function*() {
      const rows = yield* publishing([sent(1), sent(2), sent(3), sent(1)])
      assert.deepStrictEqual(rows.map(({ account_id }) => account_id), [1, 1])
      assert.strictEqual(new Set(rows.map(({ id }) => id)).size, 2)
      assert.isTrue(enqueued.every(({ subscription }) => subscription.accountId === 1 && subscription.webhookId < 20))
    }))

  it.effect("a message event matches subscriptions by its channel", () =>
    Effect.gen(function*() {
      const message = { accountId: AccountId.make(2), event: "message.sent" } as const
      const common = { message_id: 1, to: "+250788000000", type: "text", status: "sent", ...noLabels } as const
      const sms = domainEvent({
        ...message,
        channel: "sms",
        data: { ...common, channel: "sms", session_id: null, segments: 1, cost_usd: 0.01 }
      })
      const whatsapp = domainEvent({
        ...message,
        channel: "whatsapp",
        data: { ...common, channel: "whatsapp", session_id: 1 }
      })
      assert.strictEqual((yield* publishing([sms])).length, 1)
      assert.strictEqual((yield* publishing([whatsapp])).length, 0)
    }))

  it.effect("an event of a rolled-back transaction is not stored", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const events = yield* Events
      yield* sql`truncate events`
      yield* Effect.exit(transaction(Effect.andThen(events.publish([sent(1)]), Effect.die("undone"))))
      assert.deepStrictEqual(yield* sql`select id from events`, [])
    }))
})

layer(Subject, { excludeTestServices: true })("a node whose clock is wrong", (it) => {
  const publishes = Effect.fnUntraced(function*(daysFast: number) {
    const events = yield* Events
    const now = yield* Clock.currentTimeMillis
    return yield* Effect.andThen(
      TestClock.setTime(now + daysFast * 24 * 3_600_000),
      Effect.map(Effect.exit(events.publish([sent(1)])), Exit.isSuccess)
    ).pipe(Effect.provide(TestClock.layer()))
  })

  it.effect("publishes while it is less than two weeks fast, and not when it is more", () =>
    Effect.gen(function*() {
      yield* createPartitions(14)
      assert.deepStrictEqual([yield* publishes(13.9), yield* publishes(16)], [true, false])
    }))

  it.effect("publishes while it is slow by fewer days than payloads are kept, and not when it is more", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const daysKept = 7
      yield* recreatePartitions(-daysKept - 3, 14)
      yield* sql`update retention_clock set at = now()`
      yield* Effect.repeat(dropPartitions("events", daysKept), { while: (dropped) => dropped.length > 0 })
      assert.deepStrictEqual([yield* publishes(-daysKept + 0.1), yield* publishes(-daysKept - 2)], [true, false])
    }))
})
