import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { randomBytes } from "node:crypto"
import { Vault } from "../../../src/platform/crypto/Vault.ts"

const underKey = (key: Uint8Array, previous?: Uint8Array) =>
  Effect.provide(
    Vault,
    Vault.layer(Redacted.make(key), previous === undefined ? undefined : Redacted.make(previous))
  )
const key = new Uint8Array(randomBytes(32))
const other = new Uint8Array(randomBytes(32))

describe("Vault", () => {
  it.effect.prop(
    "opens what it sealed, and nothing of it is readable in between",
    [Schema.Uint8Array],
    ([plain]) =>
      Effect.gen(function*() {
        const vault = yield* underKey(key)
        const sealed = vault.seal("webhooks:1:secret", plain)
        assert.deepStrictEqual(Buffer.from(yield* vault.open("webhooks:1:secret", sealed)), Buffer.from(plain))
        if (plain.length > 8) assert.isFalse(Buffer.from(sealed).includes(Buffer.from(plain)))
      })
  )

  it.effect("seals the same bytes differently each time", () =>
    Effect.gen(function*() {
      const vault = yield* underKey(key)
      const plain = Buffer.from("whsec_abc")
      assert.notDeepEqual(vault.seal("a", plain), vault.seal("a", plain))
    }))

  it.effect("does not open a value that was moved to another row, altered or sealed under another main key", () =>
    Effect.gen(function*() {
      const vault = yield* underKey(key)
      const stranger = yield* underKey(other)
      const sealed = vault.seal("webhooks:1:secret", Buffer.from("whsec_abc"))
      const altered = new Uint8Array(sealed)
      altered.set([(altered[70] ?? 0) ^ 1], 70)
      const failures = yield* Effect.all([
        Effect.flip(vault.open("webhooks:2:secret", sealed)),
        Effect.flip(vault.open("webhooks:1:secret", altered)),
        Effect.flip(vault.open("webhooks:1:secret", sealed.subarray(0, 20))),
        Effect.flip(stranger.open("webhooks:1:secret", sealed))
      ])
      for (const failure of failures) assert.strictEqual(failure._tag, "SealBroken")
      assert.notInclude(failures.map(({ message }) => message).join(), "whsec_abc")
    }))

  it.effect("derives a different key for each purpose and main key, the same each time", () =>
    Effect.gen(function*() {
      const [vault, later] = [yield* underKey(key), yield* underKey(other, key)]
      const [old, fresh] = [vault.seal("probe", Buffer.from("")), later.seal("probe", Buffer.from(""))]
      const unsubscribe = yield* vault.derive("unsubscribe", old)
      assert.deepStrictEqual(yield* later.derive("unsubscribe", old), unsubscribe)
      assert.notDeepEqual(yield* vault.derive("opened", old), unsubscribe)
      assert.notDeepEqual(yield* later.derive("unsubscribe", fresh), unsubscribe)
    }))
})

describe("Vault with a previous main key", () => {
  it.effect("opens values under both keys, and seals under the current one alone", () =>
    Effect.gen(function*() {
      const [before, during, after] = [yield* underKey(key), yield* underKey(other, key), yield* underKey(other)]
      const plain = Buffer.from("whsec_abc")
      const old = before.seal("webhooks:1:secret", plain)
      const fresh = during.seal("webhooks:1:secret", plain)
      for (const sealed of [old, fresh]) {
        assert.deepStrictEqual(Buffer.from(yield* during.open("webhooks:1:secret", sealed)), plain)
      }
      assert.deepStrictEqual(Buffer.from(yield* after.open("webhooks:1:secret", fresh)), plain)
      assert.strictEqual((yield* Effect.flip(before.open("webhooks:1:secret", fresh))).reason, "unknown_key")
      const lost = yield* Effect.flip(after.open("webhooks:1:secret", old))
      assert.strictEqual(lost.reason, "unknown_key")
      assert.include(lost.message, "ENCRYPTION_KEY_PREVIOUS")
    }))

  it.effect.prop(
    "rewraps a data key and keeps the ciphertext, so that the value opens without the previous main key",
    [Schema.Uint8Array],
    ([plain]) =>
      Effect.gen(function*() {
        const [before, during, after] = [yield* underKey(key), yield* underKey(other, key), yield* underKey(other)]
        const sealed = before.seal("webhooks:1:secret", plain)
        const rewrapped = yield* during.rewrap("webhooks:1:secret", sealed)
        assert.deepStrictEqual(Buffer.from(yield* after.open("webhooks:1:secret", rewrapped)), Buffer.from(plain))
        assert.deepStrictEqual(Buffer.from(rewrapped.subarray(65)), Buffer.from(sealed.subarray(65)))
        assert.deepStrictEqual(Buffer.from(rewrapped.subarray(1, 5)), Buffer.from(after.keyId))
        const again = yield* after.rewrap("webhooks:1:secret", rewrapped)
        assert.deepStrictEqual(Buffer.from(yield* after.open("webhooks:1:secret", again)), Buffer.from(plain))
      })
  )

  it.effect("does not rewrap a value that was altered, moved or sealed under a third key", () =>
    Effect.gen(function*() {
      const [before, during] = [yield* underKey(key), yield* underKey(other, key)]
      const sealed = before.seal("webhooks:1:secret", Buffer.from("whsec_abc"))
      const altered = new Uint8Array(sealed)
      altered.set([(altered.at(-1) ?? 0) ^ 1], altered.length - 1)
      const third = (yield* underKey(new Uint8Array(randomBytes(32)))).seal("webhooks:1:secret", Buffer.from("a"))
      assert.strictEqual((yield* Effect.flip(during.rewrap("webhooks:2:secret", sealed))).reason, "altered")
      assert.strictEqual((yield* Effect.flip(during.rewrap("webhooks:1:secret", altered))).reason, "altered")
      assert.strictEqual((yield* Effect.flip(during.rewrap("webhooks:1:secret", third))).reason, "unknown_key")
    }))
})
