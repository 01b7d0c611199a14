import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { ulid, uuid7 } from "../../../src/platform/crypto/ids.ts"

const Millis = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 48 - 1 }))

describe("ids", () => {
  it.effect("a ULID has 26 characters of Crockford's alphabet and sorts by time", () =>
    Effect.gen(function*() {
      const first = yield* ulid
      yield* TestClock.adjust("1 millis")
      const second = yield* ulid
      assert.match(first, /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
      assert.isTrue(first < second)
    }))

  it.prop("a UUID has version 7, the RFC's variant and begins with its instant", [Millis], ([millis]) => {
    const uuid = uuid7(millis)
    return /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(uuid) &&
      Number.parseInt(uuid.replace("-", "").slice(0, 12), 16) === millis
  })
})
