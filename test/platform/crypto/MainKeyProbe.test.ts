import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { MainKeyProbe } from "../../../src/platform/crypto/MainKeyProbe.ts"
import { Vault } from "../../../src/platform/crypto/Vault.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const startUnder = (key: number) =>
  Effect.scoped(Layer.build(MainKeyProbe.pipe(Layer.provide(Vault.layer(Redacted.make(new Uint8Array(32).fill(key)))))))

layer(TestDatabase.layer)("MainKeyProbe", (it) => {
  it.effect("lets every start under the database's own key pass and stops one under another key", () =>
    Effect.gen(function*() {
      yield* startUnder(1)
      yield* startUnder(1)
      const refused = yield* Effect.flip(startUnder(2))
      assert.match(refused.message, /^ENCRYPTION_KEY is not the one that this database was filled with/)
    }))
})
