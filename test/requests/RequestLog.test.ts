import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Layer, Metric } from "effect"
import { HttpServerResponse } from "effect/http"
import { SqlError } from "effect/sql"
import { TestClock } from "effect/testing"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { KeyRequests } from "../../src/api-keys/KeyRequests.ts"
import { AppConfig } from "../../src/platform/config/AppConfig.ts"
import { uuid7 } from "../../src/platform/crypto/ids.ts"
import { type AnsweredRequest, AnsweredRequests } from "../../src/platform/http/RequestContext.ts"
import { recipientsIn } from "../../src/requests/refusedRecipients.ts"
import { refusalIn, RequestCollector } from "../../src/requests/RequestLog.ts"
import { type NewRow, RequestLogRepo } from "../../src/requests/RequestLogRepo.ts"
import { AccountId, ApiKeyId } from "../../src/values/Ids.ts"
import { Keys } from "../simulation/services.ts"

const accountId = AccountId.make(7)

const answered = (changes: Partial<AnsweredRequest> = {}, of: AccountId | null = accountId): AnsweredRequest => ({
  facts: {
    requestId: uuid7(1_790_000_000_000),
    clientAddress: "203.0.113.9",
    userAgent: "",
    publicBase: "",
    isOwn: false,
    answerHeaders: new Map(),
    route: "/v1/email/send",
    caller: { accountId: of, keyId: ApiKeyId.make(3), keyPrefix: "sk_live_abcd" }
  },
  method: "POST",
  path: "/v1/email/send",
  status: 202,
  millis: 12,
  response: HttpServerResponse.empty(),
  ...changes
})

/** How many requests the metric counts as dropped. */
const dropped = () =>
  Metric.snapshotUnsafe(Context.empty()).flatMap((metric) =>
    metric.id === "request_log_dropped_total" && metric.type === "Counter" ? [Number(metric.state.count)] : []
  )[0] ?? 0

const errorWith = (code: string) =>
  SqlError.SqlError.make({
    reason: SqlError.UnknownError.make({ cause: { code, message: "refused" }, message: "failed", operation: "query" })
  })

/** A collector whose groups come to a list. */
const collecting = (days: string) => {
  const groups: Array<ReadonlyArray<NewRow>> = []
  let state: string | undefined
  const repo = Layer.mock(RequestLogRepo, {
    insert: (rows: ReadonlyArray<NewRow>) =>
      Effect.suspend(() =>
        state === undefined ? Effect.sync(() => void groups.push(rows)) : Effect.die(errorWith(state))
      )
  })
  const counted: Array<number> = []
  const layer = RequestCollector.pipe(
    Layer.provide(repo),
    Layer.provide(
      Layer.succeed(KeyRequests, KeyRequests.of({ countRequest: ({ status }) => void counted.push(status) }))
    ),
    Layer.provide(Keys),
    Layer.provide(AppConfig.layer),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ REQUEST_LOG_RETENTION_DAYS: days })))
  )
  /** From now on the database answers with this SQLSTATE; undefined: it stores. */
  const refuse = (code: string | undefined) => {
    state = code
  }
  return { groups, counted, layer, refuse }
}

describe("the collector of requests", () => {
  it.effect("stores in groups of a thousand, and counts what does not fit into the memory", () =>
    Effect.gen(function*() {
      const { groups, layer } = collecting("7")
      yield* Effect.gen(function*() {
        const { note } = yield* AnsweredRequests
        yield* TestClock.adjust("1500 millis")
        const before = dropped()
        for (let index = 0; index < 10_050; index++) note(answered())
        assert.deepStrictEqual(groups, [])
        yield* TestClock.adjust("2 seconds")
        assert.deepStrictEqual(groups.map(({ length }) => length), Array.from({ length: 10 }, () => 1000))
        assert.strictEqual(dropped() - before, 50)
      }).pipe(Effect.provide(layer))
    }))

  it.effect("keeps what changes something and what was refused, of accounts only, and 20 of many above the limit", () =>
    Effect.gen(function*() {
      const { groups, layer } = collecting("7")
      yield* Effect.gen(function*() {
        const { note } = yield* AnsweredRequests
        note(answered({ method: "GET", status: 200 }))
        note(answered({ method: "GET", status: 404 }))
        note(answered({ method: "DELETE", status: 200 }))
        note(answered({ status: 401 }, null))
        for (let index = 0; index < 100; index++) note(answered({ method: "GET", status: 429 }))
        yield* TestClock.adjust("2 seconds")
        const statuses = groups.flat().map(({ status }) => status)
        assert.deepStrictEqual(statuses.slice(0, 2), [404, 200])
        assert.deepStrictEqual(statuses.slice(2), Array.from({ length: 20 }, () => 429))
      }).pipe(Effect.provide(layer))
    }))

  it.effect("keeps of the messages to /mcp those that were refused, because the requests that they make have their own records", () =>
    Effect.gen(function*() {
      const { groups, layer } = collecting("7")
      yield* Effect.gen(function*() {
        const { note } = yield* AnsweredRequests
        const { facts } = answered()
        for (const status of [200, 202, 400]) {
          note(answered({ facts: { ...facts, route: "/mcp" }, path: "/mcp", status }))
        }
        yield* TestClock.adjust("2 seconds")
        assert.deepStrictEqual(groups.flat().map(({ status }) => status), [400])
      }).pipe(Effect.provide(layer))
    }))

  it.effect("lets go of an answer before its request is stored, so that large answers do not fill the memory", () =>
    Effect.gen(function*() {
      const { groups, layer } = collecting("7")
      yield* Effect.gen(function*() {
        const { note } = yield* AnsweredRequests
        const noted = () => {
          const response = HttpServerResponse.text("a large answer", { headers: { location: "/v1/email/messages/7" } })
          note(answered({ response }))
          return new WeakRef(response)
        }
        yield* TestClock.adjust("1500 millis")
        const answer = noted()
        // What a weak reference was made for lives until the end of its turn of the event loop.
        yield* Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))
        setFlagsFromString("--expose-gc")
        runInNewContext("gc()")
        assert.isUndefined(answer.deref())
        assert.deepStrictEqual(groups, [])
        yield* TestClock.adjust("2 seconds")
        assert.deepStrictEqual(groups.flat().map(({ made }) => made), ["/v1/email/messages/7"])
      }).pipe(Effect.provide(layer))
    }))

  it.effect("keeps a group while the database is away, and counts one that the database refuses", () =>
    Effect.gen(function*() {
      const { groups, layer, refuse } = collecting("7")
      yield* Effect.gen(function*() {
        const { note } = yield* AnsweredRequests
        const before = dropped()
        refuse("57P01")
        note(answered())
        yield* TestClock.adjust("3 seconds")
        assert.deepStrictEqual([groups.length, dropped() - before], [0, 0])
        refuse(undefined)
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(groups.map(({ length }) => length), [1])
        refuse("23514")
        note(answered())
        yield* TestClock.adjust("1 second")
        refuse(undefined)
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual([groups.length, dropped() - before], [1, 1])
      }).pipe(Effect.provide(layer))
    }))

  it.effect("stores what waits when the node stops, and nothing where the log is off", () =>
    Effect.gen(function*() {
      const on = collecting("7")
      const off = collecting("0")
      for (const { layer } of [on, off]) {
        yield* Effect.provide(Effect.map(AnsweredRequests, ({ note }) => note(answered())), layer)
      }
      assert.deepStrictEqual(on.groups.map(({ length }) => length), [1])
      assert.deepStrictEqual(off.groups, [])
    }))

  it.effect("counts also the requests that it does not keep, and those while the log is off", () =>
    Effect.gen(function*() {
      for (const { counted, layer } of [collecting("7"), collecting("0")]) {
        yield* Effect.gen(function*() {
          const { note } = yield* AnsweredRequests
          note(answered({ method: "GET", status: 200 }))
          note(answered({ status: 422 }))
        }).pipe(Effect.provide(layer))
        assert.deepStrictEqual(counted, [200, 422])
      }
    }))
})

const bodyOf = (error: unknown) => Buffer.from(JSON.stringify({ success: false, error, meta: {} }))

describe("the recipients of a refused send", () => {
  it("are the first ten that its body names, in one form, and none of a body that is malformed or large", () => {
    const to = Array.from({ length: 12 }, (_, i) => `Ada ${i} <ADA${i}@Example.com>`)
    assert.deepStrictEqual(
      recipientsIn(JSON.stringify({ to })),
      Array.from({ length: 10 }, (_, i) => `ada${i}@example.com`)
    )
    const mixed = {
      to: { phone: "+250 788-123-456", email: "a@x.de", name: "Ada" },
      steps: [{ to: "00250788123456" }],
      cc: "b@x.de"
    }
    assert.deepStrictEqual(recipientsIn(JSON.stringify(mixed)), ["a@x.de", "250788123456", "b@x.de"])
    assert.deepStrictEqual(
      recipientsIn(JSON.stringify({ recipients: ["a@x.de", { to: "b@x.de", variables: { to: "c" } }] })),
      [
        "a@x.de",
        "b@x.de"
      ]
    )
    for (
      const none of [
        undefined,
        "",
        "{",
        "null",
        "7",
        "[]",
        JSON.stringify({ to: 7 }),
        JSON.stringify({ to: "a@x.de", text: "x".repeat(300_000) })
      ]
    ) {
      assert.deepStrictEqual(recipientsIn(none), [], none?.slice(0, 20))
    }
  })
})

describe("the error of an answer", () => {
  it("is kept with its fields, without secrets that a caller put there", () => {
    const error = {
      type: "validation_error",
      code: 4220,
      message: "to: sk_live_abcdefghijklmnopqrstuvwxyz0123456789 is no address.",
      doc_url: "/docs/guides/errors#validation_error",
      param: "to",
      errors: [{ param: "to", type: "invalid", message: "whsec_abcdefghijkl+/= is no address" }]
    }
    assert.deepStrictEqual(refusalIn(bodyOf(error)), {
      type: "validation_error",
      code: 4220,
      message: "to: sk_live_abc… is no address.",
      param: "to",
      errors: [{ param: "to", type: "invalid", message: "whsec_abc… is no address" }]
    })
  })

  it("has neither a NUL character nor half of an emoji, which PostgreSQL would refuse with all requests of the group", () => {
    const error = { type: "validation_error", code: 4220, message: `no\0thing ${"😀".repeat(500)}` }
    const kept = refusalIn(bodyOf(error))?.message ?? ""
    assert.isTrue(kept.isWellFormed())
    assert.isTrue(kept.startsWith("no\ufffdthing 😀"))
  })

  it("is cut where it is long, and is null for an answer of another form", () => {
    const fault = { param: "to", type: "invalid", message: "x".repeat(9000) }
    const error = {
      type: "validation_error",
      code: 4220,
      message: "no",
      errors: Array.from({ length: 500 }, () => fault)
    }
    const kept = refusalIn(bodyOf(error))
    assert.strictEqual(kept?.errors?.length, 20)
    assert.isBelow(JSON.stringify(kept).length, 12_000)
    for (const body of [undefined, Buffer.from("<html>"), bodyOf("no")]) assert.isNull(refusalIn(body))
  })
})
