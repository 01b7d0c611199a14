import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import type { Heard } from "../../../../src/channels/whatsapp/outbox/OutboxState.ts"
import { OutboxStatusUpdates } from "../../../../src/channels/whatsapp/outbox/OutboxStatusUpdates.ts"
import { type DomainEvent, Events } from "../../../../src/events/Events.ts"
import { WhatsAppSessionId } from "../../../../src/values/Ids.ts"
import { makeAccount } from "../../../support/Service.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"

const happenings: Array<DomainEvent> = []
const Told = Layer.succeed(
  Events,
  Events.of({ publish: (news) => Effect.sync(() => void happenings.push(...news)) })
)

/** A message that waits for its acknowledgement. */
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
  const heard = (...all: ReadonlyArray<Heard>) => all.map((one) => ({ sessionId, whatsappId: "NAME", heard: one }))
  const row = Effect.map(
    sql`select status, created_at, sent_at, delivered_at, read_at from messages where session_id = ${sessionId}`,
    ([found]) => found ?? {}
  )
  /** How many seconds ago it was sent. */
  const age = Effect.map(
    sql`select extract(epoch from now() - sent_at)::float8 as age from messages where session_id = ${sessionId}`,
    ([found]) => Number(found?.["age"])
  )
  const news = () => happenings.filter(({ data }) => "session_id" in data && data.session_id === sessionId)
  return { sessionId, heard, row, age, news }
})

const Subject = OutboxStatusUpdates.layer.pipe(Layer.provide(Told), Layer.provideMerge(TestDatabase.layer))

// The clock of the node stands at 1970 in these tests.
layer(Subject)("the times of a WhatsApp message", (it) => {
  it.effect("are those of the database, whatever the clock of the node says", () =>
    Effect.gen(function*() {
      const { write } = yield* OutboxStatusUpdates
      const { age, heard, news, row } = yield* written
      yield* write(heard("sent", "read"))
      const { created_at, delivered_at, read_at, sent_at } = yield* row
      for (const at of [sent_at, delivered_at, read_at]) assert.isTrue(String(at) >= String(created_at))
      assert.isBelow(yield* age, 60)
      const told = news().flatMap(({ data }) =>
        "delivered_at" in data ? data.delivered_at : "read_at" in data ? data.read_at : []
      )
      assert.deepStrictEqual(told, [delivered_at, read_at])
    }))

  it.effect("say when it was heard, however long that could not be written", () =>
    Effect.gen(function*() {
      const sql = yield* PgClient.PgClient
      const { write } = yield* OutboxStatusUpdates
      const { age, heard, sessionId } = yield* written
      const [held, released] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const holding = yield* Effect.forkChild(sql.withTransaction(
        sql`select from whatsapp_outbox where session_id = ${sessionId} for update`.pipe(
          Effect.andThen(Deferred.succeed(held, undefined)),
          Effect.andThen(Deferred.await(released))
        )
      ))
      yield* Deferred.await(held)
      const writing = yield* Effect.forkChild(write(heard("sent")), { startImmediately: true })
      yield* TestClock.adjust("1 hour")
      yield* Deferred.succeed(released, undefined)
      yield* Fiber.joinAll([holding, writing])
      assert.approximately(yield* age, 3_600, 60)
    }))
})
