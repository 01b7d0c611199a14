import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { randomBytes } from "node:crypto"
import { Vault } from "../../../src/platform/crypto/Vault.ts"

const underKey = (key: Uint8Array) => Effect.provide(Vault, Vault.layer(Redacted.make(key)))
const key = new Uint8Array(randomBytes(32))

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
      const other = yield* underKey(new Uint8Array(randomBytes(32)))
      const sealed = vault.seal("webhooks:1:secret", Buffer.from("whsec_abc"))
      const altered = new Uint8Array(sealed)
      altered.set([(altered[70] ?? 0) ^ 1], 70)
      const failures = yield* Effect.all([
        Effect.flip(vault.open("webhooks:2:secret", sealed)),
        Effect.flip(vault.open("webhooks:1:secret", altered)),
        Effect.flip(vault.open("webhooks:1:secret", sealed.subarray(0, 20))),
        Effect.flip(other.open("webhooks:1:secret", sealed))
      ])
      for (const failure of failures) assert.strictEqual(failure._tag, "SealBroken")
      assert.notInclude(failures.map(({ message }) => message).join(), "whsec_abc")
    }))

  it.effect("derives a different key for each purpose, the same each time", () =>
    Effect.gen(function*() {
      const vault = yield* underKey(key)
      assert.deepStrictEqual(vault.macKey("unsubscribe"), vault.macKey("unsubscribe"))
      assert.notDeepEqual(vault.macKey("unsubscribe"), vault.macKey("opened"))
    }))
})
