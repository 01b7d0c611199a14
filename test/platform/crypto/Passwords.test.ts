import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Passwords from "../../../src/platform/crypto/Passwords.ts"

describe("Passwords", () => {
  it.live("hashes to an argon2id PHC string that only the same password verifies", () =>
    Effect.gen(function*() {
      const stored = yield* Passwords.hash("correct horse battery")
      assert.match(stored, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
      assert.isTrue(yield* Passwords.verify("correct horse battery", stored))
      assert.isFalse(yield* Passwords.verify("correct horse batterx", stored))
    }))

  it.live("hashes the same password differently each time", () =>
    Effect.gen(function*() {
      assert.notStrictEqual(yield* Passwords.hash("same"), yield* Passwords.hash("same"))
    }))

  it.live("accepts the same password in another Unicode form", () =>
    Effect.gen(function*() {
      const stored = yield* Passwords.hash("caf\u00e9-caf\u00e9")
      assert.isTrue(yield* Passwords.verify("cafe\u0301-cafe\u0301", stored))
    }))

  it.live("verifies no password if the stored hash is missing or invalid", () =>
    Effect.gen(function*() {
      assert.isFalse(yield* Passwords.verify("anything", null))
      assert.isFalse(yield* Passwords.verify("anything", "plain text"))
    }))
})
