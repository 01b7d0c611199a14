import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { lockWaits } from "../support/lockWaits.ts"
import { eventually, makeAccount, type RequestOptions, Service } from "../support/Service.ts"

const times = (count: number) => Array.from({ length: count }, (_, index) => index)

/** Sends requests with a key each at the same time, and reads the account beside them until the last is answered. */
const storm = Effect.fnUntraced(function*(count: number, path: string, options: RequestOptions) {
  const { request } = yield* Service
  let isOver = false
  const requests = Effect.forEach(
    times(count),
    (index) => request("POST", path, { ...options, headers: { "idempotency-key": `storm-${index}` } }),
    { concurrency: "unbounded" }
  ).pipe(Effect.ensuring(Effect.sync(() => void (isOver = true))))
  const reading = Effect.repeat(request("GET", "/v1/account", options), { until: () => isOver })
  const probing = Effect.repeat(request("GET", "/health/ready"), { until: () => isOver })
  const [answers, account, health] = yield* Effect.all([requests, reading, probing], { concurrency: "unbounded" })
  return { answers, beside: [account.status, health.status] }
})

layer(Service.layer({ env: { STATEMENT_TIMEOUT_SECONDS: "3" } }), { excludeTestServices: true })(
  "a request's statement",
  (it) => {
    it.effect("ends after STATEMENT_TIMEOUT_SECONDS, and the request gets 503 with Retry-After", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { request } = yield* Service
        const { accountId, key } = yield* makeAccount()
        const add = request("POST", "/v1/api-keys", { key, json: { name: "Key" } })
        const late = yield* sql.withTransaction(
          Effect.andThen(sql`select from accounts where id = ${accountId} for update`, add)
        )
        assert.deepStrictEqual([late.status, late.headers["retry-after"]], [503, "2"])
        assert.strictEqual((yield* add).status, 201)
      }))
  }
)

layer(Service.layer({ env: { STATEMENT_TIMEOUT_SECONDS: "60" } }), { excludeTestServices: true })(
  "a pool of 10 connections",
  (it) => {
    it.effect("answers 40 code checks with idempotency keys at once, and other requests beside them", () =>
      Effect.gen(function*() {
        const { key } = yield* makeAccount()
        const { answers, beside } = yield* storm(40, "/v1/verify/check", {
          key,
          json: { id: "ver_none", code: "123456" }
        })
        assert.deepStrictEqual(answers.map(({ status }) => status), times(40).map(() => 404))
        assert.deepStrictEqual(beside, [200, 200])
      }))

    it.effect("creates 25 WhatsApp sessions with idempotency keys at once, and answers other requests beside them", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const { key } = yield* makeAccount()
        const { answers, beside } = yield* storm(25, "/v1/whatsapp/sessions", { key, json: {} })
        assert.deepStrictEqual(answers.map(({ status }) => status), times(25).map(() => 201))
        assert.deepStrictEqual(beside, [200, 200])
        const list = yield* request("GET", "/v1/whatsapp/sessions", { key })
        assert.strictEqual(list.at("meta", "total"), 25)
      }))

    it.effect("leaves connections for other requests while requests with idempotency keys wait for a lock", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { request } = yield* Service
        const { accountId, key } = yield* makeAccount()
        const { answers, status } = yield* sql.withTransaction(Effect.gen(function*() {
          yield* sql`select from accounts where id = ${accountId} for update`
          const answers = yield* Effect.forEach(
            times(20),
            (index) =>
              request("POST", "/v1/api-keys", {
                key,
                json: { name: "Key" },
                headers: { "idempotency-key": `${index}` }
              }),
            { concurrency: "unbounded" }
          ).pipe(Effect.forkChild)
          yield* eventually(lockWaits, (rows) => rows.length === 6)
          const account = yield* request("GET", "/v1/account", { key })
          return { answers, status: account.status }
        }))
        assert.strictEqual(status, 200)
        assert.deepStrictEqual((yield* Fiber.join(answers)).map((answer) => answer.status), times(20).map(() => 201))
      }))
  }
)
