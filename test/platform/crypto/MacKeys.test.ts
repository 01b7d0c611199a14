import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { hkdfSync } from "node:crypto"
import { sealedColumns } from "../../../src/app/server/sealedColumns.ts"
import { MacKeys } from "../../../src/platform/crypto/MacKeys.ts"
import { rotateMainKey } from "../../../src/platform/crypto/rotateMainKey.ts"
import { Vault } from "../../../src/platform/crypto/Vault.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const keyOf = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte))

const under = (key: number, previous?: number) =>
  Vault.layer(keyOf(key), previous === undefined ? undefined : keyOf(previous))

/** The MAC keys of a start under these main keys. */
const start = (key: number, previous?: number) =>
  Effect.map(
    Effect.provide(MacKeys, MacKeys.layer.pipe(Layer.provide(under(key, previous)))),
    ({ unsubscribe }) => unsubscribe.export()
  )

layer(TestDatabase.layer)("MacKeys", (it) => {
  it.effect("are derived from the database's main key once, and survive its rotation", () =>
    Effect.gen(function*() {
      const derived = Buffer.from(hkdfSync("sha256", new Uint8Array(32).fill(1), "", "unsubscribe", 32))
      assert.deepStrictEqual(yield* start(1), derived)
      assert.deepStrictEqual(yield* start(2, 1), derived)
      yield* Effect.provide(rotateMainKey(sealedColumns, () => Effect.void), under(2, 1))
      assert.deepStrictEqual(yield* start(2), derived)
    }))
})

layer(TestDatabase.layer)("the MAC key of unsubscribe links", (it) => {
  it.effect("is another one after a rotation, once its row is deleted and a node restarts", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const leaked = yield* start(1)
      yield* Effect.provide(rotateMainKey(sealedColumns, () => Effect.void), under(2, 1))
      yield* sql`delete from keyring where purpose = 'unsubscribe'`
      assert.notDeepEqual(yield* start(2), leaked)
    }))
})

layer(TestDatabase.layer)("MacKeys of a database without a keyring", (it) => {
  it.effect("are derived from the previous main key if the first start has a new one", () =>
    Effect.gen(function*() {
      const before = yield* start(1)
      const sql = yield* SqlClient.SqlClient
      yield* sql`delete from keyring`
      assert.deepStrictEqual(yield* start(2, 1), before)
    }))
})

layer(TestDatabase.layer)("a start", (it) => {
  it.effect("succeeds under the database's key, and under another one only in addition", () =>
    Effect.gen(function*() {
      yield* start(1)
      yield* start(1)
      yield* start(2, 1)
      const refused = yield* Effect.flip(start(2))
      assert.match(refused.message, /^ENCRYPTION_KEY is not the main key of this database/)
      assert.match(refused.message, /ENCRYPTION_KEY_PREVIOUS.*rotate-key/)
    }))

  it.effect("fails under the old key alone after a rotation has begun, and says what to do", () =>
    Effect.gen(function*() {
      const stopped = rotateMainKey(sealedColumns, () => Effect.fail("stopped"))
      assert.strictEqual(yield* Effect.flip(Effect.provide(stopped, under(2, 1))), "stopped")
      assert.match((yield* Effect.flip(start(1))).message, /keyring:unsubscribe .* ENCRYPTION_KEY_PREVIOUS/)
      assert.match((yield* Effect.flip(start(2))).message, /^ENCRYPTION_KEY is not the main key/)
    }))
})
