import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { ReportedStatus } from "../../../../src/channels/whatsapp/outbox/OutboxState.ts"
import { OutboxStatusUpdates } from "../../../../src/channels/whatsapp/outbox/OutboxStatusUpdates.ts"
import { type DomainEvent, Events } from "../../../../src/events/Events.ts"
import { Usage } from "../../../../src/usage/Usage.ts"
import { MessageId, WhatsAppSessionId } from "../../../../src/values/Ids.ts"
import { lockWaits } from "../../../support/lockWaits.ts"
import { eventually, makeAccount } from "../../../support/Service.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"
import { eventsWith } from "../../../support/testEvents.ts"

const published: Array<DomainEvent> = []
const Recording = Layer.succeed(
  Events,
  eventsWith((events) => Effect.sync(() => void published.push(...events)))
)

/** An unacknowledged message. */
const written = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient
  const { accountId } = yield* makeAccount()
  const [session] = yield* sql`insert into whatsapp_sessions (account_id, session_key, name, data_key)
    values (${accountId}, ${`wa_${accountId}`}, 'Test', '') returning id`
  const sessionId = WhatsAppSessionId.make(Number(session?.["id"]))
  yield* sql`with added as (
      insert into messages (account_id, channel, session_id, direction, recipient, type, content, status)
      values (${accountId}, 'whatsapp', ${sessionId}, 'out', '+15550100300', 'text', '{"body": "Hello"}', 'queued')
      returning id
    )
    insert into whatsapp_outbox (message_id, session_id, whatsapp_id, lane, status, written_at)
    select id, ${sessionId}::bigint, 'NAME', 0, 'written', now() from added`
  const updates = (...all: ReadonlyArray<ReportedStatus>) =>
    all.map((status) => ({ sessionId, whatsappId: "NAME", status }))
  const row = Effect.map(
    sql`select status, created_at, sent_at, delivered_at, read_at from messages where session_id = ${sessionId}`,
    ([found]) => found ?? {}
  )
  /** Seconds since it was sent. */
  const age = Effect.map(
    sql`select extract(epoch from now() - sent_at)::float8 as age from messages where session_id = ${sessionId}`,
    ([found]) => Number(found?.["age"])
  )
  const events = () => published.filter(({ data }) => "session_id" in data && data.session_id === sessionId)
  return { sessionId, updates, row, age, events }
})

const Updates = OutboxStatusUpdates.layer.pipe(Layer.provide([Recording, Usage.layer]))
const Subject = Layer.provideMerge(Updates, TestDatabase.layer)

// The node's clock shows 1970 in these tests.
layer(Subject)("OutboxStatusUpdates", (it) => {
  it.effect("stores and publishes times by the database's clock, whatever the node's clock shows", () =>
    Effect.gen(function*() {
      const { write } = yield* OutboxStatusUpdates
      const { age, events, row, updates } = yield* written
      yield* write(updates("sent", "read"))
      const { created_at, delivered_at, read_at, sent_at } = yield* row
      for (const at of [sent_at, delivered_at, read_at]) assert.isTrue(String(at) >= String(created_at))
      assert.isBelow(yield* age, 60)
      const times = events().flatMap(({ data }) =>
        "delivered_at" in data ? data.delivered_at : "read_at" in data ? data.read_at : []
      )
      assert.deepStrictEqual(times, [delivered_at, read_at])
    }))

  it.effect("stores when a status arrived, however long the write had to wait", () =>
    Effect.gen(function*() {
      const sql = yield* PgClient.PgClient
      const { write } = yield* OutboxStatusUpdates
      const { age, sessionId, updates } = yield* written
      const [locked, released] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const holding = yield* Effect.forkChild(sql.withTransaction(
        sql`select from whatsapp_outbox where session_id = ${sessionId} for update`.pipe(
          Effect.andThen(Deferred.succeed(locked, undefined)),
          Effect.andThen(Deferred.await(released))
        )
      ))
      yield* Deferred.await(locked)
      const writing = yield* Effect.forkChild(write(updates("sent")), { startImmediately: true })
      yield* TestClock.adjust("1 hour")
      yield* Deferred.succeed(released, undefined)
      yield* Fiber.joinAll([holding, writing])
      assert.approximately(yield* age, 3_600, 60)
    }))

  it.effect("stores what waits for its group when the node stops", () =>
    Effect.gen(function*() {
      const { events, row, updates } = yield* written
      yield* Effect.scoped(Effect.gen(function*() {
        const { enqueue } = Context.get(yield* Layer.build(Layer.fresh(Updates)), OutboxStatusUpdates)
        updates("sent").forEach(enqueue)
        yield* eventually(row, ({ status }) => status === "sent")
        // By the test's clock the pause after the group does not end.
        updates("delivered", "read").forEach(enqueue)
      }))
      assert.strictEqual((yield* row)["status"], "read")
      assert.deepStrictEqual(events().map(({ event }) => event), ["message.sent", "message.delivered", "message.read"])
    }))

  it.effect("cancels a message that is being released, after its release", () =>
    Effect.gen(function*() {
      const sql = yield* PgClient.PgClient
      const { cancelOne } = yield* OutboxStatusUpdates
      const { row, sessionId } = yield* written
      yield* sql`update whatsapp_outbox set status = 'scheduled', written_at = null where session_id = ${sessionId}`
      const [message] = yield* sql`update messages set status = 'scheduled', send_at = now()
        where session_id = ${sessionId} returning id`
      const [locked, released] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const releasing = yield* Effect.forkChild(sql.withTransaction(Effect.gen(function*() {
        yield* sql`update messages set status = 'queued' where session_id = ${sessionId}`
        yield* Deferred.succeed(locked, undefined)
        yield* Deferred.await(released)
        yield* sql`update whatsapp_outbox set status = 'queued' where session_id = ${sessionId}`
      })))
      yield* Deferred.await(locked)
      const canceling = yield* Effect.forkChild(cancelOne(MessageId.make(Number(message?.["id"]))))
      yield* eventually(lockWaits, ({ length }) => length === 1)
      yield* Deferred.succeed(released, undefined)
      yield* Fiber.join(releasing)
      assert.isTrue(yield* Fiber.join(canceling))
      assert.strictEqual((yield* row)["status"], "canceled")
    }))
})
