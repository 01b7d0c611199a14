import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { makeFirstReads } from "../../src/api-keys/Credentials.ts"
import { type FirstRead, type Read, rowsSentAhead } from "../../src/platform/database/QuickReads.ts"

const read: Read = { statement: "select $1", values: [7] }

/** A request that makes these reads, one after the other, and what it expected first. */
const reading = (...reads: ReadonlyArray<Read>) => (first?: FirstRead) =>
  Effect.sync(() => {
    for (const one of reads) if (first !== undefined) rowsSentAhead(first, one)
    return first?.expected
  })

describe("the first read of a request", () => {
  it.effect("is expected of the next request with this key and address, and of no other", () =>
    Effect.gen(function*() {
      const request = makeFirstReads()
      const later: Read = { statement: "select 2", values: [] }
      assert.isUndefined(yield* request("sk_live_a", "/v1/keys", reading(read, later)))
      assert.isUndefined(yield* request("sk_live_b", "/v1/keys", reading()))
      assert.isUndefined(yield* request("sk_live_a", "/v1/keys?page=2", reading()))
      assert.deepStrictEqual(yield* request("sk_live_a", "/v1/keys", reading()), read)
      assert.isUndefined(yield* request("sk_live_a", "/v1/keys", reading()), "the last one read nothing")
    }))

  it.effect("is not expected after a request that failed", () =>
    Effect.gen(function*() {
      const request = makeFirstReads()
      yield* request("sk_live_a", "/", reading(read))
      yield* Effect.flip(request("sk_live_a", "/", () => Effect.fail("refused")))
      assert.isUndefined(yield* request("sk_live_a", "/", reading()))
    }))

  it.effect("is expected of one request at a time, and none is remembered of those that come meanwhile", () =>
    Effect.gen(function*() {
      const request = makeFirstReads()
      yield* request("sk_live_a", "/", reading(read))
      const meanwhile = request("sk_live_a", "/", (first) => Effect.succeed(first))
      assert.isUndefined(yield* request("sk_live_a", "/", (first) => Effect.andThen(reading(read)(first), meanwhile)))
      assert.deepStrictEqual(yield* request("sk_live_a", "/", reading()), read)
    }))

  it.effect("is forgotten when a thousand other requests have been made since, or when its address is long", () =>
    Effect.gen(function*() {
      const request = makeFirstReads()
      for (let n = 0; n <= 1000; n++) yield* request("sk_live_a", `/${n}`, reading(read))
      assert.isUndefined(yield* request("sk_live_a", "/0", reading()))
      assert.deepStrictEqual(yield* request("sk_live_a", "/1", reading()), read)
      const long = `/${"a".repeat(256)}`
      yield* request("sk_live_a", long, reading(read))
      assert.isUndefined(yield* request("sk_live_a", long, reading()))
    }))

  it.effect("gets the rows of the read that was sent ahead only if it is exactly this one", () =>
    Effect.gen(function*() {
      const rows = [{ n: 1 }]
      const sent = yield* Effect.forkChild(Effect.succeed(rows))
      const answered = (...reads: ReadonlyArray<Read>) => {
        const first: FirstRead = { expected: read, sent }
        return reads.map((one) => rowsSentAhead(first, one) !== undefined)
      }
      assert.deepStrictEqual(answered({ ...read }, read), [true, false])
      assert.deepStrictEqual(answered({ ...read, statement: "select 1" }, read), [false, false])
      for (const values of [[], [8], [7, 7], ["7"]]) assert.deepStrictEqual(answered({ ...read, values }), [false])
      assert.deepStrictEqual(yield* Fiber.join(sent), rows)
    }))
})
