import { assert, layer } from "@effect/vitest"
import { Clock, ConfigProvider, Deferred, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { newDataKey } from "../../../../src/channels/whatsapp/credentials/DataKey.ts"
import { OutboxSender } from "../../../../src/channels/whatsapp/outbox/OutboxSender.ts"
import { OutboxSenders } from "../../../../src/channels/whatsapp/outbox/OutboxSenders.ts"
import { OutboxStatusUpdates } from "../../../../src/channels/whatsapp/outbox/OutboxStatusUpdates.ts"
import { ReceivedMessages } from "../../../../src/channels/whatsapp/socket/MessageTraffic.ts"
import { SocketFailed } from "../../../../src/channels/whatsapp/socket/SocketErrors.ts"
import type { SessionSocket } from "../../../../src/channels/whatsapp/socket/WhatsAppSocket.ts"
import { AppConfig } from "../../../../src/platform/config/AppConfig.ts"
import { MacKeys } from "../../../../src/platform/crypto/MacKeys.ts"
import { Vault } from "../../../../src/platform/crypto/Vault.ts"
import { PublicDownload } from "../../../../src/platform/net/PublicDownload.ts"
import { Usage } from "../../../../src/usage/Usage.ts"
import { WhatsAppSessionId } from "../../../../src/values/Ids.ts"
import { passing } from "../../../support/passing.ts"
import { eventually, makeAccount } from "../../../support/Service.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"
import { noEvents } from "../../../support/testEvents.ts"
import { unaskedSocket } from "../../../support/unaskedSocket.ts"

/** No rate limits, for tests about something else. */
const unlimited = {
  WHATSAPP_PER_MINUTE: "0",
  WHATSAPP_PER_DAY: "0",
  WHATSAPP_PAUSE_MIN_MS: "0",
  WHATSAPP_PAUSE_MAX_MS: "0"
}

const settings = (values: Readonly<Record<string, string>>) =>
  AppConfig.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(values))))

/** Discards events: these tests read the status from the row. */
const NoEvents = noEvents

const lanes = (values: Readonly<Record<string, string>>) =>
  OutboxSender.layer.pipe(
    Layer.provide(OutboxStatusUpdates.layer.pipe(Layer.provide([NoEvents, Usage.layer]))),
    Layer.provide([
      OutboxSenders.layer,
      Layer.succeed(ReceivedMessages, ReceivedMessages.of({ find: () => Effect.undefined })),
      MacKeys.layer,
      settings(values),
      PublicDownload.layer({ allowLoopback: false, maxBytes: 1, timeout: "1 second" })
    ]),
    Layer.provideMerge(Vault.layer(Redacted.make(new Uint8Array(32).fill(3)))),
    Layer.provideMerge(TestDatabase.layer)
  )

/** A connected session. The other end of its connection acknowledges each message at once, or none. */
const scene = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { accountId } = yield* makeAccount()
  const [next] = yield* sql`select nextval(pg_get_serial_sequence('whatsapp_sessions', 'id')) as id`
  const id = WhatsAppSessionId.make(Number(next?.["id"]))
  yield* sql`insert into whatsapp_sessions
      (id, account_id, session_key, name, data_key, epoch, is_paired, status, is_confirmed)
    overriding system value
    values (${id}, ${accountId}, ${`wa_${id}`}, 'Test', ${newDataKey(yield* Vault, id)}, 1, true, 'connected', true)`
  const relayed: Array<{ readonly id: string; readonly at: number }> = []
  const socket: SessionSocket = {
    ...unaskedSocket,
    chatOf: (number) => Effect.succeed(`${number}@s.whatsapp.net`),
    compose: () => Effect.succeed(new Uint8Array()),
    relay: (page) =>
      Effect.map(Clock.currentTimeMillis, (at) => {
        relayed.push(...page.map(({ id: name }) => ({ id: name, at })))
        return []
      })
  }
  /** Adds messages to the session's outbox: queued, or sent `hoursAgo`. */
  const messages = (count: number, hoursAgo?: number) =>
    sql`with added as (
        insert into messages (account_id, channel, session_id, direction, recipient, type, content, status)
        select ${accountId}::bigint, 'whatsapp', ${id}::bigint, 'out', '+15550100300', 'text', '{"body": "Hello"}',
          ${hoursAgo === undefined ? "queued" : "sent"}
        from generate_series(1, ${count}::integer) returning id
      )
      insert into whatsapp_outbox (message_id, session_id, whatsapp_id, lane, status, written_at)
      select id, ${id}::bigint, 'NAME' || id, 0, ${hoursAgo === undefined ? "queued" : "sent"},
        now() - ${hoursAgo ?? null}::float8 * interval '1 hour'
      from added`
  const row = Effect.map(
    sql`select o.status, o.attempt_count, o.whatsapp_id, m.error_code from whatsapp_outbox o
      join messages m on m.id = o.message_id where o.session_id = ${id} order by o.message_id desc limit 1`,
    ([found]) => found ?? {}
  )
  const open = Effect.fnUntraced(function*(acknowledges: boolean) {
    const { attach } = yield* OutboxSender
    const part = yield* attach({ id, epoch: 1 })
    const acknowledge = (name: string) => part.onStanza?.("ack", { tag: "ack", attrs: { id: name } })
    const answering: SessionSocket = {
      ...socket,
      relay: (page, isHeld) =>
        Effect.tap(socket.relay(page, isHeld), () =>
          Effect.sync(() => {
            if (acknowledges) { for (const { id: name } of page) acknowledge(name) }
          }))
    }
    yield* part.onOpened?.(answering) ?? Effect.void
    return part
  })
  return { id, relayed, count: Effect.sync(() => relayed.length), messages, row, open }
})

layer(lanes(unlimited))("an unacknowledged WhatsApp message", (it) => {
  it.effect(
    "is written again every 30 seconds under the same id and fails after five attempts",
    () =>
      Effect.scoped(Effect.gen(function*() {
        const { count, messages, open, relayed, row } = yield* scene
        yield* messages(1)
        yield* open(false)
        for (let attempt = 1; attempt <= 5; attempt++) {
          yield* passing(count, (relays) => relays >= attempt)
          assert.deepInclude(yield* row, { status: "written", attempt_count: attempt })
        }
        yield* passing(row, ({ status }) => status === "failed")
        const { whatsapp_id: name, ...failed } = yield* row
        assert.deepInclude(failed, { error_code: "not_acknowledged", attempt_count: 5 })
        assert.deepStrictEqual(relayed.map(({ id }) => id), Array.from({ length: 5 }, () => name))
        const pauses = relayed.slice(1).map(({ at }, index) => at - (relayed[index]?.at ?? 0))
        assert.deepStrictEqual(pauses.filter((pause) => pause < 30_000), [])
      }))
  )

  it.effect("gets five attempts to send even if it needed four to prepare", () =>
    Effect.scoped(Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { count, id, messages, open, row } = yield* scene
      yield* messages(1)
      yield* sql`update whatsapp_outbox set attempt_count = 4 where session_id = ${id}`
      yield* open(false)
      yield* passing(count, (relays) => relays >= 2)
      assert.deepInclude(yield* row, { status: "written", attempt_count: 2 })
    })))

  it.effect("becomes sent when a late acknowledgement arrives and is not written again", () =>
    Effect.scoped(Effect.gen(function*() {
      const { count, messages, open, relayed, row } = yield* scene
      yield* messages(1)
      const part = yield* open(false)
      yield* passing(count, (relays) => relays === 2)
      part.onStanza?.("ack", { tag: "ack", attrs: { id: relayed[0]?.id ?? "" } })
      yield* eventually(row, ({ status }) => status === "sent")
      yield* TestClock.adjust("1 day")
      assert.lengthOf(relayed, 2)
    })))
})

layer(lanes(unlimited))("a WhatsApp message whose connection closes while it is prepared", (it) => {
  it.effect("waits for the next connection with all its attempts", () =>
    Effect.scoped(Effect.gen(function*() {
      const { attach } = yield* OutboxSender
      const { count, id, messages, open, row } = yield* scene
      yield* messages(1)
      for (let connections = 1; connections <= 5; connections++) {
        let isOpen = true
        const asked = yield* Deferred.make<void>()
        yield* Effect.scoped(Effect.gen(function*() {
          const part = yield* attach({ id, epoch: 1 })
          yield* part.onOpened?.({
            ...unaskedSocket,
            isOpen: () => isOpen,
            chatOf: () => {
              isOpen = false
              return Effect.andThen(
                Deferred.succeed(asked, undefined),
                Effect.fail(new SocketFailed({ reason: "Connection Closed" }))
              )
            }
          }) ?? Effect.void
          yield* passing(Deferred.isDone(asked), (is) => is)
          yield* TestClock.adjust("1 minute")
          assert.deepInclude(yield* row, { status: "queued", attempt_count: 0 })
        }))
      }
      yield* open(false)
      yield* passing(count, (relays) => relays === 1)
    })))
})

layer(lanes(unlimited))("a WhatsApp message that another node accepted", (it) => {
  it.effect("is sent when that node wakes the session, without waiting for the next poll", () =>
    Effect.scoped(Effect.gen(function*() {
      const { wake } = yield* OutboxSender
      const { count, id, messages, open } = yield* scene
      yield* messages(1)
      yield* open(true)
      yield* eventually(count, (relays) => relays === 1)
      yield* messages(1)
      wake(id)
      yield* eventually(count, (relays) => relays === 2)
    })))
})

layer(lanes(unlimited))("a WhatsApp session with a later owner", (it) => {
  it.effect("may write to its socket for eight seconds after a statement has found its epoch, and not again", () =>
    Effect.scoped(Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { attach } = yield* OutboxSender
      const { id, messages } = yield* scene
      yield* messages(1)
      const relaying = yield* Deferred.make<() => boolean>()
      const part = yield* attach({ id, epoch: 1 })
      yield* part.onOpened?.({
        ...unaskedSocket,
        chatOf: (number) => Effect.succeed(`${number}@s.whatsapp.net`),
        compose: () => Effect.succeed(new Uint8Array()),
        relay: (_, isHeld) => Effect.andThen(Deferred.succeed(relaying, isHeld), Effect.never)
      }) ?? Effect.void
      const isHeld = yield* Deferred.await(relaying)
      assert.isTrue(isHeld())
      yield* sql`update whatsapp_sessions set epoch = 2 where id = ${id}`
      yield* TestClock.adjust("7 seconds")
      assert.isTrue(isHeld())
      yield* TestClock.adjust("1 second")
      assert.isFalse(isHeld())
    })))
})

layer(lanes(unlimited))("a WhatsApp batch with delay_ms", (it) => {
  it.effect("pauses before each of its messages and lets a later single message go first", () =>
    Effect.scoped(Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { wake } = yield* OutboxSender
      const { count, id, messages, open, relayed } = yield* scene
      yield* messages(3)
      yield* sql`update whatsapp_outbox set delay_ms = 20000, lane = 1 where session_id = ${id}`
      yield* open(true)
      yield* passing(count, (relays) => relays === 1)
      yield* messages(1)
      wake(id)
      yield* eventually(count, (relays) => relays === 2)
      yield* passing(count, (relays) => relays === 4)
      const [, alone = 0, second = 0, third = 0] = relayed.map(({ at }) => at)
      const [last] = yield* sql`select whatsapp_id from whatsapp_outbox where session_id = ${id} and lane = 0`
      assert.strictEqual(relayed[1]?.id, last?.["whatsapp_id"])
      assert.isAtLeast(second - alone, 20_000)
      assert.isAtLeast(third - second, 20_000)
    })))
})

layer(lanes(unlimited))("the next phone of a WhatsApp session", (it) => {
  it.effect("sends no message that was queued before the previous phone logged the session out", () =>
    Effect.scoped(Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { count, id, messages, open, relayed } = yield* scene
      yield* messages(2)
      yield* sql`update whatsapp_outbox set status = 'written', written_at = now(), chat = '', body = ''
        where message_id = (select min(message_id) from whatsapp_outbox where session_id = ${id})`
      yield* sql`update whatsapp_sessions set pairing = pairing + 1 where id = ${id}`
      yield* messages(1)
      yield* sql`update whatsapp_outbox set pairing = pairing + 1
        where message_id = (select max(message_id) from whatsapp_outbox where session_id = ${id})`
      yield* open(true)
      yield* passing(count, (relays) => relays > 0)
      yield* TestClock.adjust("1 minute")
      const rows =
        yield* sql`select whatsapp_id, status from whatsapp_outbox where session_id = ${id} order by message_id`
      assert.deepStrictEqual(relayed.map((message) => message.id), [rows[2]?.["whatsapp_id"]])
      assert.deepStrictEqual(rows.slice(0, 2).map(({ status }) => status), ["written", "queued"])
    })))
})

layer(lanes({ ...unlimited, WHATSAPP_PER_DAY: "1000" }))(
  "a WhatsApp session that has reached 1,000 messages a day",
  (it) => {
    it.effect(
      "writes the next message when the first of them is a day old, not before",
      () =>
        Effect.scoped(Effect.gen(function*() {
          const { count, messages, open, relayed } = yield* scene
          const begun = yield* Clock.currentTimeMillis
          const startedAt = performance.now()
          yield* messages(1, 23)
          yield* messages(999, 22)
          yield* messages(2)
          yield* open(true)
          yield* passing(count, (relays) => relays > 0, "1 minute")
          const [first] = relayed
          // The database's clock advances meanwhile.
          const elapsed = () => performance.now() - startedAt + 1_000
          assert.isAtLeast((first?.at ?? 0) - begun, 60 * 60_000 - elapsed())
          yield* passing(count, (relays) => relays > 1, "1 minute")
          assert.isAtLeast((relayed[1]?.at ?? 0) - begun, 2 * 60 * 60_000 - elapsed())
        }))
    )
  }
)
