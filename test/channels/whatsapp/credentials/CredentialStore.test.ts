import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { type Credentials, CredentialStore } from "../../../../src/channels/whatsapp/credentials/CredentialStore.ts"
import { newDataKey } from "../../../../src/channels/whatsapp/credentials/DataKey.ts"
import { Journal } from "../../../../src/channels/whatsapp/credentials/Journal.ts"
import { Vault } from "../../../../src/platform/crypto/Vault.ts"
import { WhatsAppSessionId } from "../../../../src/values/Ids.ts"
import { eventually, makeAccount } from "../../../support/Service.ts"
import { TestDatabase } from "../../../support/TestDatabase.ts"

const vault = Vault.layer(Redacted.make(new Uint8Array(32).fill(7)))

const journal = Layer.effect(
  Journal,
  Effect.map(SqlClient.SqlClient, (sql) =>
    Journal.of({
      write: (messages) =>
        Effect.orDie(Effect.forEach(messages, ({ plaintext }) =>
          plaintext.length === 0
            ? Effect.die("no message")
            : sql`insert into plain (text) values (${Buffer.from(plaintext).toString()})`, { discard: true }))
    }))
)

const Layers = CredentialStore.layer.pipe(
  Layer.provide(journal),
  Layer.provideMerge(vault),
  Layer.provideMerge(TestDatabase.layer)
)

const bytes = (text: string) => Buffer.from(text)
const textOf = (value: Uint8Array | undefined) => value === undefined ? undefined : Buffer.from(value).toString()
const entry = (key: string, value: string | null) => ({
  type: "session",
  key,
  value: value === null ? null : bytes(value)
})

/** A session of a new account, with its first epoch. */
const makeSession = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { accountId } = yield* makeAccount()
  const [row] = yield* sql`select nextval(pg_get_serial_sequence('whatsapp_sessions', 'id')) as id`
  const id = WhatsAppSessionId.make(Number(row?.["id"]))
  const key = newDataKey(yield* Vault, id)
  yield* sql`insert into whatsapp_sessions (id, account_id, session_key, name, data_key, epoch)
    overriding system value values (${id}, ${accountId}, ${`wa_${id}`}, 'Test', ${key}, 1)`
  return { id, epoch: 1 }
})

const read = (credentials: Credentials, ...keys: ReadonlyArray<string>) =>
  Effect.map(credentials.get("session", keys), (values) => keys.map((key) => textOf(values.get(key))))

layer(Layers, { excludeTestServices: true })("CredentialStore", (it) => {
  it.effect("returns the last written values, from memory and for the next owner", () =>
    Effect.gen(function*() {
      const store = yield* CredentialStore
      const owned = yield* makeSession
      const credentials = yield* store.open(owned)
      yield* credentials.set([entry("a", "1"), entry("b", "1"), entry("c", "1")])
      yield* Effect.all([
        credentials.set([entry("a", "2")]),
        credentials.set([entry("a", "3"), entry("b", null)]),
        credentials.set([entry("d", "")])
      ], { concurrency: "unbounded" })
      const expected = ["3", undefined, "1", ""]
      assert.deepStrictEqual(yield* read(credentials, "a", "b", "c", "d"), expected)
      assert.deepStrictEqual(yield* read(yield* store.open(owned), "a", "b", "c", "d"), expected)
    }))

  it.effect("encrypts values so that they open in no other place, session or type", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const store = yield* CredentialStore
      const [one, other] = [yield* makeSession, yield* makeSession]
      yield* (yield* store.open(one)).set([entry("a", "very secret"), entry("b", "very secret")])
      yield* (yield* store.open(other)).set([entry("a", "very secret")])
      const rows = yield* sql`select value from whatsapp_keys`
      assert.isFalse(rows.some(({ value }) => Buffer.from(value as Uint8Array).includes("secret")))
      yield* sql`update whatsapp_keys k set value = o.value from whatsapp_keys o
        where k.session_id = ${one.id} and k.key = 'a' and o.session_id = ${one.id} and o.key = 'b'`
      const moved = yield* Effect.flip(read(yield* store.open(one), "a"))
      assert.strictEqual(moved._tag, "SealBroken")
      yield* sql`update whatsapp_keys k set value = o.value from whatsapp_keys o
        where k.session_id = ${other.id} and o.session_id = ${one.id} and o.key = 'b'`
      assert.strictEqual((yield* Effect.flip(read(yield* store.open(other), "a"))).reason, "altered")
    }))

  it.effect("reads pending values at once, and joins concurrent writes into one", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const store = yield* CredentialStore
      const owned = yield* makeSession
      const credentials = yield* store.open(owned)
      const writes = yield* Effect.forEach(
        ["1", "2", "3"],
        (value) =>
          Effect.forkChild(credentials.set([entry("a", value), entry(`b${value}`, value)]), { startImmediately: true })
      )
      assert.deepStrictEqual(yield* read(credentials, "a", "b1", "b3"), ["3", "1", "3"])
      yield* Fiber.joinAll(writes)
      const rows = yield* sql`select distinct xmin::text from whatsapp_keys where session_id = ${owned.id}`
      assert.strictEqual(rows.length, 1)
      assert.deepStrictEqual(yield* read(yield* store.open(owned), "a", "b1", "b3"), ["3", "1", "3"])
    }))

  it.effect("writes nothing after a failed write", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const store = yield* CredentialStore
      const owned = yield* makeSession
      const credentials = yield* store.open(owned)
      yield* credentials.set([entry("a", "1")])
      yield* sql`alter table whatsapp_keys add constraint only_a check (key <> 'b' or session_id <> ${
        sql.literal(String(owned.id))
      })`
      assert.isTrue(Exit.isFailure(yield* Effect.exit(credentials.set([entry("a", "2"), entry("b", "2")]))))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(credentials.set([entry("a", "3")]))))
      yield* sql`alter table whatsapp_keys drop constraint only_a`
      assert.deepStrictEqual(yield* read(yield* store.open(owned), "a"), ["1"])
    }))

  it.effect("refuses writes of a former owner", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const store = yield* CredentialStore
      const before = yield* makeSession
      const first = yield* store.open(before)
      yield* first.set([entry("a", "1")])
      yield* sql`update whatsapp_sessions set epoch = epoch + 1 where id = ${before.id}`
      assert.strictEqual((yield* Effect.flip(first.set([entry("a", "late")])))._tag, "OwnershipLost")
      assert.strictEqual((yield* Effect.flip(store.open(before)))._tag, "OwnershipLost")
      const second = yield* store.open({ ...before, epoch: 2 })
      assert.deepStrictEqual(yield* read(second, "a"), ["1"])
    }))

  it.effect("lets a new owner find every completed write of the former owner", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const store = yield* CredentialStore
      const owned = yield* makeSession
      const former = yield* store.open(owned)
      let confirmed = 0
      const writing = Effect.forever(Effect.suspend(() =>
        Effect.andThen(
          former.set([entry("counter", String(confirmed + 1))]),
          Effect.sync(() => void confirmed++)
        )
      ))
      const takingOver = eventually(Effect.sync(() => confirmed), (count) => count > 20).pipe(
        Effect.andThen(sql`update whatsapp_sessions set epoch = 2 where id = ${owned.id}`),
        Effect.andThen(Effect.flatMap(store.open({ ...owned, epoch: 2 }), (next) => read(next, "counter")))
      )
      const [error, [found]] = yield* Effect.all([Effect.flip(writing), takingOver], { concurrency: 2 })
      assert.strictEqual(error._tag, "OwnershipLost")
      assert.strictEqual(Number(found ?? 0), confirmed)
      const [now] = yield* read(yield* store.open({ ...owned, epoch: 2 }), "counter")
      assert.strictEqual(now, found)
    }))

  it.effect("joins writes of many sessions, and fails only those without ownership", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const store = yield* CredentialStore
      const owners = yield* Effect.forEach(Array.from({ length: 20 }), () => makeSession)
      const all = yield* Effect.forEach(owners, (owned) => store.open(owned))
      const lost = owners[7]?.id ?? 0
      yield* sql`update whatsapp_sessions set epoch = 9 where id = ${lost}`
      const exits = yield* Effect.forEach(
        all,
        (credentials) => Effect.exit(Effect.forEach(["1", "2", "3"], (value) => credentials.set([entry("a", value)]))),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(exits.map(({ _tag }) => _tag === "Success"), owners.map(({ id }) => id !== lost))
      const rows = yield* sql`select count(*) as count from whatsapp_keys where session_id = any(${
        owners.map(({ id }) => id)
      })`
      assert.strictEqual(Number(rows[0]?.["count"]), 19)
    }))

  it.effect("writes keys and journaled messages together or not at all", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`create table plain (text text)`
      const store = yield* CredentialStore
      const owned = yield* makeSession
      const credentials = yield* store.open(owned)
      const message = (plaintext: string) => ({
        sessionId: owned.id,
        envelope: { tag: "message", attrs: {} },
        plaintext: bytes(plaintext)
      })
      yield* credentials.set([entry("ratchet", "1")], [message("hello")])
      yield* Effect.exit(credentials.set([entry("ratchet", "2")], [message("")]))
      assert.deepStrictEqual((yield* sql`select text from plain`).map(({ text }) => text), ["hello"])
      assert.deepStrictEqual(yield* read(yield* store.open(owned), "ratchet"), ["1"])
      yield* sql`update whatsapp_sessions set epoch = 2 where id = ${owned.id}`
      yield* Effect.exit(credentials.set([entry("ratchet", "3")], [message("too late")]))
      assert.strictEqual((yield* sql`select text from plain`).length, 1)
    }))
})
