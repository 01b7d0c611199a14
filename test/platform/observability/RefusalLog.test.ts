import { assert, it } from "@effect/vitest"
import { Effect, Layer, Logger, References } from "effect"
import { TestClock } from "effect/testing"
import { type Refusal, Refusals } from "../../../src/platform/http/RequestContext.ts"
import { RefusalLog } from "../../../src/platform/observability/RefusalLog.ts"
import { AccountId, ApiKeyId } from "../../../src/values/Ids.ts"

interface Line {
  readonly message: unknown
  readonly facts: Readonly<Record<string, unknown>>
}

const refusalOf = (clientAddress: string, reason = "invalid_api_key", status = 401): Refusal => ({
  facts: { requestId: "request", clientAddress, userAgent: "", publicBase: "", isOwn: false, answerHeaders: new Map() },
  method: "GET",
  route: "/v1/webhooks/:id",
  status,
  reason
})

/** Runs with the log and gives the test the lines so far. */
const withLog = <A, E>(
  test: (log: Refusals["Service"], lines: ReadonlyArray<Line>) => Effect.Effect<A, E>
) => {
  const lines: Array<Line> = []
  const logger = Logger.make<unknown, void>(({ fiber, message }) => {
    lines.push({ message: [message].flat()[0], facts: fiber.getRef(References.CurrentLogAnnotations) })
  })
  return Effect.flatMap(Refusals, (log) => test(log, lines)).pipe(
    Effect.provide(Layer.provideMerge(RefusalLog, Logger.layer([logger])))
  )
}

it.effect("a refusal is logged with its address, its key, its account, the route and the reason", () =>
  withLog((log, lines) =>
    Effect.gen(function*() {
      const { facts, ...refusal } = refusalOf("203.0.113.9", "insufficient_scope", 403)
      const caller = { accountId: AccountId.make(7), keyId: ApiKeyId.make(5), sessionId: undefined }
      yield* log.note({ ...refusal, facts: { ...facts, caller } })
      assert.deepStrictEqual(lines, [{
        message: "request refused",
        facts: {
          request_id: "request",
          client_address: "203.0.113.9",
          method: "GET",
          route: "/v1/webhooks/:id",
          status: 403,
          reason: "insufficient_scope",
          account_id: 7,
          key_id: 5
        }
      }])
    })
  ))

it.effect("of a network and a reason, five refusals a minute are logged one by one, and then how many more there were", () =>
  withLog((log, lines) =>
    Effect.gen(function*() {
      // Two addresses of one IPv6 network.
      for (let sent = 0; sent < 1000; sent++) yield* log.note(refusalOf(`2001:db8::${1 + sent % 2}`))
      yield* log.note(refusalOf("2001:db8::1", "rate_limit_exceeded", 429))
      assert.lengthOf(lines, 6)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(lines.slice(6), [{
        message: "more requests were refused",
        facts: { client_network: "2001:db8::/64", status: 401, reason: "invalid_api_key", count: 995 }
      }])
      yield* log.note(refusalOf("2001:db8::1"))
      assert.lengthOf(lines, 8)
    })
  ))

it.effect("refusals of very many networks end as one count", () =>
  withLog((log, lines) =>
    Effect.gen(function*() {
      for (let sent = 0; sent < 5_000; sent++) yield* log.note(refusalOf(`198.51.${sent >> 8}.${sent & 255}`))
      assert.lengthOf(lines, 200)
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(lines.slice(200), [{ message: "more requests were refused", facts: { count: 4_800 } }])
    })
  ))
