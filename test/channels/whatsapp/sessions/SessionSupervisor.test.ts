import { assert, layer } from "@effect/vitest"
import { Clock, ConfigProvider, Deferred, Effect, Fiber, Layer, Queue, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { CredentialStore } from "../../../../src/channels/whatsapp/credentials/CredentialStore.ts"
import { SessionRowRepo } from "../../../../src/channels/whatsapp/sessions/SessionRowRepo.ts"
import * as SessionSupervisor from "../../../../src/channels/whatsapp/sessions/SessionSupervisor.ts"
import { MessageTraffic } from "../../../../src/channels/whatsapp/socket/MessageTraffic.ts"
import { type SocketEvent, WhatsAppSocket } from "../../../../src/channels/whatsapp/socket/WhatsAppSocket.ts"
import { type DomainEvent, Events } from "../../../../src/events/Events.ts"
import { AppConfig } from "../../../../src/platform/config/AppConfig.ts"
import { Vault } from "../../../../src/platform/crypto/Vault.ts"
import { IdleTraffic } from "../../../support/idleTraffic.ts"
import { lockWaits } from "../../../support/lockWaits.ts"
import { passing } from "../../../support/passing.ts"
import { eventually } from "../../../support/Service.ts"
import { makeSessionRow } from "../../../support/sessionRow.ts"
import { TestDatabase, transaction } from "../../../support/TestDatabase.ts"
import { eventsWith } from "../../../support/testEvents.ts"
import { unaskedSocket } from "../../../support/unaskedSocket.ts"
import { inPatience } from "../../../support/waiting.ts"

interface Connection {
  readonly isPaired: boolean
  readonly events: Queue.Queue<SocketEvent>
  /** The numbers that requested a pairing code. */
  readonly numbers: Array<string>
  isClosed: boolean
}

/** The connections of each session, in order. The tests drive them. */
const connections = new Map<number, Array<Connection>>()

/** Connections of these sessions open when the effect ends. */
const slow = new Map<number, Effect.Effect<void>>()

const Sockets = Layer.succeed(
  WhatsAppSocket,
  WhatsAppSocket.of({
    open: Effect.fnUntraced(function*({ credentials, isPaired }) {
      const all = connections.get(credentials.owned.id) ?? []
      connections.set(credentials.owned.id, all)
      const connection: Connection = {
        isPaired,
        events: yield* Queue.unbounded<SocketEvent>(),
        numbers: [],
        isClosed: false
      }
      all.push(connection)
      yield* slow.get(credentials.owned.id) ?? Effect.void
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          connection.isClosed = true
        })
      )
      return {
        ...unaskedSocket,
        next: Queue.take(connection.events),
        requestPairingCode: (number) =>
          Effect.sync(() => {
            connection.numbers.push(number)
            return `CONN000${all.indexOf(connection) + 1}`
          }),
        logOut: Effect.void
      }
    })
  })
)

const published: Array<DomainEvent> = []
const Published = Layer.succeed(
  Events,
  eventsWith((events) => Effect.sync(() => void published.push(...events)))
)

const retries = 3

const Settings = AppConfig.layer.pipe(
  Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ WHATSAPP_RETRIES: String(retries) })))
)

const Subject = Layer.mergeAll(CredentialStore.layer, SessionRowRepo.layer, Sockets, Published, Settings).pipe(
  Layer.provideMerge(IdleTraffic),
  Layer.provideMerge(Vault.layer(Redacted.make(new Uint8Array(32).fill(3)))),
  Layer.provideMerge(TestDatabase.layer)
)

/** Runs a session of a new account, with handles for the test. */
const keep = Effect.fnUntraced(function*(isPaired: boolean) {
  const { id, row } = yield* makeSessionRow(isPaired)
  const awake: Array<boolean> = []
  const actor = yield* SessionSupervisor.make(id, (on) => Effect.sync(() => void awake.push(on)))
  yield* actor.Wake()
  const count = () => connections.get(id)?.length ?? 0
  return {
    id,
    actor,
    pair: (phoneNumber: string) => actor.Pair({ payload: { phoneNumber } }),
    awake,
    row,
    count,
    until: (status: string) => eventually(row, (found) => found["status"] === status),
    /** Lets time pass until there are this many connections. A pause may start a moment after the row has the failure. */
    passing: (n: number) => passing(Effect.sync(count), (all) => all === n),
    /** Waits for the n-th connection. */
    connection: (n: number) =>
      Effect.as(eventually(Effect.sync(count), (all) => all >= n), connections.get(id)?.[n - 1]),
    tell: (event: SocketEvent) => {
      const latest = connections.get(id)?.at(-1)
      if (latest !== undefined) Queue.offerUnsafe(latest.events, event)
    },
    all: () => connections.get(id) ?? [],
    latest: () => connections.get(id)?.at(-1),
    events: () => published.filter(({ data }) => "session_id" in data && data.session_id === id)
  }
})

const opened: SocketEvent = { _tag: "Opened", phoneNumber: "15550100300" }
const closed = (cause: Extract<SocketEvent, { readonly _tag: "Closed" }>["cause"]): SocketEvent => ({
  _tag: "Closed",
  cause,
  detail: "test"
})

layer(Subject)("SessionSupervisor", (it) => {
  it.effect("shows codes for 160 seconds, then idles until the next request", () =>
    Effect.scoped(Effect.gen(function*() {
      const session = yield* keep(false)
      yield* session.connection(1)
      session.tell({ _tag: "Code", text: "first" })
      const shown = yield* session.actor.Qr()
      assert.strictEqual(shown._tag, "Code")
      yield* TestClock.adjust("159 seconds")
      session.tell({ _tag: "Code", text: "last" })
      const codes = yield* eventually(Effect.sync(session.events), (events) => events.length === 2)
      assert.deepStrictEqual(codes.map(({ event }) => event), ["session.qr_updated", "session.qr_updated"])
      assert.strictEqual((yield* session.row)["status"], "pending")
      yield* TestClock.adjust("1 second")
      yield* session.until("failed")
      assert.deepInclude(yield* session.row, { reason: "qr_expired", desired: "off", tries: false })
      yield* eventually(Effect.sync(() => session.awake.at(-1)), (awake) => awake === false)
      assert.isTrue(session.latest()?.isClosed)
      const asking = yield* Effect.forkChild(session.actor.Qr())
      yield* session.connection(2)
      session.tell({ _tag: "Code", text: "new" })
      assert.strictEqual((yield* Fiber.join(asking))._tag, "Code")
      assert.strictEqual((yield* session.row)["status"], "pending")
    })))

  it.effect("publishes no code before the session's creation is answered", () =>
    Effect.scoped(Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const session = yield* keep(false)
      yield* sql`update whatsapp_sessions set is_confirmed = false where id = ${session.id}`
      yield* session.connection(1)
      session.tell({ _tag: "Code", text: "first" })
      session.tell({ _tag: "Code", text: "second" })
      const second = Effect.map(session.actor.Qr(), (code) => code._tag === "Code" ? code.text : "")
      yield* eventually(second, (text) => text === "second")
      assert.deepStrictEqual(session.events(), [])
      yield* sql`update whatsapp_sessions set is_confirmed = true where id = ${session.id}`
      session.tell({ _tag: "Code", text: "third" })
      yield* eventually(Effect.sync(session.events), (events) => events.length === 1)
    })))

  it.effect("makes a new pairing code on a new connection for each caller, and only the last code is valid", () =>
    Effect.scoped(Effect.gen(function*() {
      const session = yield* keep(false)
      yield* session.connection(1)
      session.tell({ _tag: "Code", text: "first" })
      yield* session.actor.Qr()
      const numbers = ["15550100300", "15550100301", "15550100302"]
      const codeOf = Effect.map(
        session.pair(numbers[0] ?? ""),
        (answer) => answer._tag === "PairingCode" ? answer.code : answer
      )
      const asking = yield* Effect.forkChild(codeOf)
      yield* session.connection(2)
      session.tell({ _tag: "Code", text: "of 2" })
      assert.strictEqual(yield* Fiber.join(asking), "CONN-0002")
      // Two at the same time: the earlier caller does not receive the later code.
      const both = yield* Effect.forkChild(Effect.forEach(numbers.slice(1), session.pair, { concurrency: 2 }))
      yield* session.connection(3)
      session.tell({ _tag: "Code", text: "of 3" })
      const [early, late] = yield* Fiber.join(both)
      assert.deepStrictEqual(early, { _tag: "NoCode", why: "unavailable" })
      assert.deepInclude(late, { _tag: "PairingCode", code: "CONN-0003" })
      assert.deepStrictEqual(session.all().map(({ isClosed, numbers: asked }) => ({ isClosed, asked })), [
        { isClosed: true, asked: [] },
        { isClosed: true, asked: numbers.slice(0, 1) },
        { isClosed: false, asked: numbers.slice(2) }
      ])
      // The code expires with its window, and the next request starts over.
      yield* TestClock.adjust("160 seconds")
      yield* session.until("failed")
      const again = yield* Effect.forkChild(session.pair("15550100300"))
      yield* session.connection(4)
      session.tell({ _tag: "Code", text: "of 4" })
      assert.deepInclude(yield* Fiber.join(again), { _tag: "PairingCode", code: "CONN-0004" })
      session.tell({ _tag: "Paired" })
      yield* eventually(session.row, ({ is_paired }) => is_paired === true)
      assert.deepStrictEqual(yield* session.pair("15550100300"), { _tag: "NoCode", why: "connected" })
      assert.strictEqual(session.count(), 4)
    })))

  it.effect("answers with a pairing code of the connection that is being opened", () =>
    Effect.scoped(Effect.gen(function*() {
      const session = yield* keep(false)
      yield* session.connection(1)
      const made = yield* Deferred.make<void>()
      slow.set(session.id, Deferred.await(made))
      session.tell(closed("lost"))
      yield* eventually(session.row, ({ failures }) => failures === 1)
      yield* session.passing(2)
      const asking = yield* Effect.forkChild(session.pair("15550100300"))
      yield* Effect.yieldNow
      yield* Deferred.succeed(made, undefined)
      session.tell({ _tag: "Code", text: "of 2" })
      const answer = yield* inPatience(Fiber.join(asking), () => "no answer")
      assert.deepInclude(answer, { _tag: "PairingCode", code: "CONN-0002" })
    })))

  it.effect("closes a silent connection after 30 seconds", () =>
    Effect.scoped(Effect.gen(function*() {
      const session = yield* keep(true)
      yield* session.connection(1)
      yield* TestClock.adjust("29 seconds")
      assert.isFalse(session.latest()?.isClosed)
      yield* TestClock.adjust("1 second")
      yield* session.until("disconnected")
      assert.deepInclude(yield* session.row, { reason: "connection_lost", failures: 1 })
      yield* session.passing(2)
    })))

  it.effect("gives the server its 30 seconds also if the statements before the connection take longer", () =>
    Effect.scoped(Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const session = yield* keep(true)
      yield* session.connection(1)
      session.tell(closed("lost"))
      yield* eventually(session.row, ({ failures }) => failures === 1)
      yield* transaction(Effect.gen(function*() {
        yield* sql`select from whatsapp_sessions where id = ${session.id} for update`
        yield* passing(lockWaits, ({ length }) => length > 0)
        yield* TestClock.adjust("1 minute")
      }))
      yield* session.connection(2)
      session.tell(opened)
      yield* session.until("connected")
    })))

  it.effect("reconnects once, 30 seconds after another client has replaced it", () =>
    Effect.scoped(Effect.gen(function*() {
      const session = yield* keep(true)
      yield* session.connection(1)
      session.tell(opened)
      const before = yield* Clock.currentTimeMillis
      session.tell(closed("replaced"))
      yield* session.until("disconnected")
      yield* session.passing(2)
      assert.isAtLeast((yield* Clock.currentTimeMillis) - before, 30_000)
      session.tell(opened)
      session.tell(closed("replaced"))
      yield* session.until("failed")
      yield* TestClock.adjust("1 day")
      assert.strictEqual(session.count(), 2)
      assert.deepInclude(yield* session.row, { reason: "replaced", tries: false })
    })))

  it.effect("keeps its credentials after the last retry, and connects with them when a retry is due", () =>
    Effect.scoped(Effect.gen(function*() {
      const session = yield* keep(true)
      for (let attempt = 1; attempt <= retries + 1; attempt++) {
        yield* session.passing(attempt)
        session.tell(closed("lost"))
        yield* eventually(session.row, ({ failures }) => failures === attempt)
      }
      yield* session.until("failed")
      assert.deepInclude(yield* session.row, { reason: "retries_exhausted", desired: "off", tries: true })
      yield* TestClock.adjust("1 day")
      assert.strictEqual(session.count(), retries + 1)
      // The actor may still be about to store its state.
      yield* eventually(Effect.map(session.actor.Try(), session.count), (all) => all === retries + 2)
      assert.isTrue(session.latest()?.isPaired)
      session.tell(opened)
      yield* session.until("connected")
      assert.deepInclude(yield* session.row, { reason: null, desired: "on", failures: 0 })
      assert.deepStrictEqual(session.events().map(({ event }) => event), [
        "session.disconnected",
        "session.disconnected",
        "session.connected"
      ])
    })))

  it.effect("stops silently when a second node claims the session, which alone continues", () =>
    Effect.scoped(Effect.gen(function*() {
      const session = yield* keep(true)
      yield* session.connection(1)
      session.tell(opened)
      yield* eventually(session.row, ({ status }) => status === "connected")
      const other = yield* SessionSupervisor.make(session.id, () => Effect.void)
      yield* other.Wake()
      yield* session.connection(2)
      session.tell(opened)
      const [first, second] = session.all()
      if (first === undefined) return assert.fail("no first connection")
      // Its events change neither the row nor the webhooks, and it does not reconnect.
      Queue.offerUnsafe(first.events, closed("lost"))
      yield* eventually(Effect.sync(() => first.isClosed), (gone) => gone)
      yield* TestClock.adjust("1 day")
      assert.strictEqual(session.count(), 2)
      assert.isFalse(second?.isClosed)
      assert.deepInclude(yield* session.row, { status: "connected", reason: null, failures: 0 })
      assert.deepStrictEqual(session.events(), [])
    })))

  it.effect("looks for messages to send whenever it is woken", () =>
    Effect.scoped(Effect.gen(function*() {
      const { id } = yield* makeSessionRow(true)
      const woken: Array<number> = []
      const actor = yield* SessionSupervisor.make(id, () => Effect.void).pipe(
        Effect.updateService(MessageTraffic, (traffic) =>
          MessageTraffic.of({ ...traffic, wake: (session) => void woken.push(session) }))
      )
      yield* actor.Wake()
      yield* actor.Wake()
      assert.deepStrictEqual(woken, [id, id])
    })))
})
