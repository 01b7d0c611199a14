import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { assertRefused } from "../contract/contract.ts"
import { chromium, openPage } from "../support/Chromium.ts"
import { signedInAs } from "../support/consolePeople.ts"
import { type DatabaseState, makeDatabaseProxy } from "../support/DatabaseProxy.ts"
import { titled } from "../support/look.ts"
import { eventually, live, makeAccount, startNode } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"
import { inTime } from "./inTime.ts"

/** Seconds; `whileDatabaseAnswers.test.ts` checks the exact 5 by the test clock. */
const limitSeconds = inTime(5)

const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  live(Effect.gen(function*() {
    const startedAt = yield* Clock.currentTimeMillis
    const value = yield* effect
    return { value, millis: (yield* Clock.currentTimeMillis) - startedAt }
  }))

layer(TestDatabase.layer)("node without its database", (it) => {
  for (const state of ["gone", "silent"] as const satisfies ReadonlyArray<DatabaseState>) {
    it.effect(`with a ${state} database requests get 503 within ${limitSeconds} seconds, and the node recovers by itself`, () =>
      Effect.gen(function*() {
        const proxy = yield* makeDatabaseProxy()
        const node = yield* startNode({ env: { DATABASE_URL: proxy.url } })
        const { key } = yield* makeAccount()
        assert.strictEqual((yield* node.request("GET", "/v1/api-keys", { key })).status, 200)
        yield* proxy.become(state)

        const asks = [
          node.request("GET", "/v1/api-keys", { key }),
          node.request("POST", "/v1/api-keys", { key, json: { name: "Lost" } }),
          node.request("POST", "/v1/api-keys", { key, json: { name: "Lost" }, headers: { "idempotency-key": "a" } }),
          node.request("POST", "/v1/auth/login", { json: { email: "a@example.com", password: "wrong horse" } })
        ]
        const [answers, ready] = yield* Effect.all(
          [Effect.forEach(asks, timed, { concurrency: "unbounded" }), timed(node.request("GET", "/health/ready"))],
          { concurrency: "unbounded" }
        )
        for (const { millis, value } of answers) {
          assertRefused(value, 503, "service_unavailable")
          assert.match(value.headers["retry-after"] ?? "", /^\d+$/)
          assert.isBelow(millis, limitSeconds * 1_000)
        }
        assert.strictEqual(ready.value.status, 503)
        assert.deepInclude(ready.value.json, { status: "unavailable", database: "unavailable" })
        // The probe waits two seconds for the database, and answers then.
        assert.isBelow(ready.millis, inTime(2.5) * 1_000)
        // Liveness stays 200: a restart would not help.
        assert.strictEqual((yield* node.request("GET", "/health/live")).status, 200)

        yield* proxy.become("up")
        yield* eventually(node.request("GET", "/health/ready"), ({ status }) => status === 200, longer.turn)
        const made = yield* eventually(
          node.request("POST", "/v1/api-keys", { key, json: { name: "Back" } }),
          ({ status }) => status !== 503,
          longer.turn
        )
        assert.strictEqual(made.status, 201)
        const list = yield* node.request("GET", "/v1/api-keys", { key })
        assert.strictEqual(list.status, 200)
        assert.notInclude(list.text, "Lost")
        // The 503 was not stored as the answer for this idempotency key.
        const retried = yield* node.request("POST", "/v1/api-keys", {
          key,
          json: { name: "Lost" },
          headers: { "idempotency-key": "a" }
        })
        assert.deepStrictEqual([retried.status, retried.headers["idempotency-replayed"]], [201, undefined])
        assert.deepStrictEqual(yield* node.stop(), { code: 0, signal: null })
      }))
  }

  it.effect.skipIf(chromium === undefined)(
    "a page of the console says that the service is away, and shows itself once the database is back",
    () =>
      Effect.gen(function*() {
        const proxy = yield* makeDatabaseProxy()
        const node = yield* startNode({ env: { DATABASE_URL: proxy.url } })
        const { accountId } = yield* makeAccount()
        const { token } = yield* signedInAs(accountId, "owner")
        const page = yield* openPage
        yield* page.command("Network.enable")
        yield* page.command("Network.setCookie", { name: "console", value: token, url: node.baseUrl })
        const address = `${node.baseUrl}/console/${accountId}/keys`
        yield* page.open(address)
        yield* page.until(titled("API keys"))
        yield* proxy.become("gone")
        const { status, text } = yield* node.request("GET", `/console/${accountId}/keys`, {
          headers: { cookie: `console=${token}` }
        })
        assert.strictEqual(status, 503, text)
        yield* page.open(address)
        yield* page.until(titled("The service does not answer at the moment"), longer.turn)
        yield* proxy.become("up")
        yield* page.until(titled("API keys"), longer.turn)
      })
  )

  it.effect("becomes ready on new connections, although those to a machine that died stay silent for ever", () =>
    Effect.gen(function*() {
      const proxy = yield* makeDatabaseProxy()
      const node = yield* startNode({ env: { DATABASE_URL: proxy.url } })
      const { key } = yield* makeAccount()
      const ready = node.request("GET", "/health/ready")
      assert.strictEqual((yield* ready).status, 200)
      yield* proxy.become("replaced")
      assert.strictEqual((yield* ready).status, 503)
      yield* eventually(ready, ({ status }) => status === 200, longer.turn)
      yield* eventually(node.request("GET", "/v1/api-keys", { key }), ({ status }) => status === 200, longer.turn)
    }))

  it.effect(`each of 100 concurrent requests gets 503 within ${limitSeconds} seconds`, () =>
    Effect.gen(function*() {
      const proxy = yield* makeDatabaseProxy()
      const node = yield* startNode({ env: { DATABASE_URL: proxy.url } })
      const { key } = yield* makeAccount()
      yield* proxy.become("silent")
      const answers = yield* Effect.forEach(
        Array.from({ length: 100 }),
        () => timed(node.request("GET", "/v1/api-keys", { key })),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual([...new Set(answers.map(({ value }) => value.status))], [503])
      assert.isBelow(Math.max(...answers.map(({ millis }) => millis)), limitSeconds * 1_000)
    }))
})
