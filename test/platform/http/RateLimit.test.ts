import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { RateLimit } from "../../../src/platform/http/RateLimit.ts"
import { assertRefused } from "../../contract/contract.ts"
import {
  type Answer,
  earlyInTheMinute,
  makeAccount,
  makeKey,
  type RunningNode,
  Service,
  startNode
} from "../../support/Service.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

class SecondNode extends Context.Service<SecondNode, RunningNode>()(
  "messaging-service/test/platform/http/RateLimit.test/SecondNode"
) {
  static readonly layer = (env: Readonly<Record<string, string>>) => Layer.effect(SecondNode, startNode({ env }))
}

const limit = 40
const env = { RATE_LIMIT_STARTER: String(limit), RATE_LIMIT_LOGIN: "20" }
const twoNodes = SecondNode.layer(env).pipe(Layer.provideMerge(Service.layer({ env })))

/** Groups responses by the end of their minute, because a test may cross one. */
const byMinute = (answers: ReadonlyArray<Answer>) =>
  Object.values(Object.groupBy(answers, ({ headers }) => headers["x-ratelimit-reset"] ?? ""))

layer(twoNodes)("the rate limit", (it) => {
  it.effect("admits exactly its number of requests in a minute, counted over two nodes", () =>
    Effect.gen(function*() {
      const nodes = [yield* Service, yield* SecondNode]
      const { key } = yield* makeAccount({ plan: "starter" })
      const ask = (i: number) => nodes[i % 2]?.request("GET", "/v1/api-keys", { key }) ?? Effect.die("no node")
      // A node that has counted ahead loses the rest with its minute.
      yield* earlyInTheMinute
      const answers = yield* Effect.forEach(Array.from({ length: 3 * limit }, (_, i) => i), ask, { concurrency: 50 })
      for (const minute of byMinute(answers)) {
        const passed = minute?.filter(({ status }) => status === 200) ?? []
        const refused = minute?.filter(({ status }) => status !== 200) ?? []
        assert.strictEqual(passed.length, Math.min(limit, passed.length + refused.length))
        const remaining = passed.map(({ headers }) => Number(headers["x-ratelimit-remaining"])).toSorted((a, b) =>
          b - a
        )
        assert.deepStrictEqual(remaining, passed.map((_, i) => limit - 1 - i))
        for (const answer of refused) assertRefused(answer, 429, "rate_limit_exceeded")
      }
      assert.isTrue(answers.some(({ status }) => status === 429))
    }))

  it.effect("admits no more than its number of requests when a node is killed, which loses a part of what was left", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { key, keyId } = yield* makeAccount({ plan: "starter" })
      const victim = yield* startNode({ env })
      yield* earlyInTheMinute
      const passed = (node: RunningNode, count: number) =>
        Effect.map(
          Effect.forEach(Array.from({ length: count }), () => node.request("GET", "/v1/api-keys", { key })),
          (answers) => answers.filter(({ status }) => status === 200).length
        )
      const before = yield* passed(victim, 20)
      yield* victim.kill
      const [row] = yield* sql`select used::int as used from rate_windows where bucket = ${`key:${keyId}`}`
      const counted = Number(row?.["used"])
      const answers = yield* Effect.forEach(
        Array.from({ length: 2 * limit }),
        () => request("GET", "/v1/api-keys", { key })
      )
      const after = answers.filter(({ status }) => status === 200).length
      assert.strictEqual(before, 20)
      assert.isAtMost(counted - before, limit / 8)
      assert.strictEqual(after, limit - counted)
    }))

  it.effect("reports the remaining requests in each response and, at zero, when to retry", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount({ plan: "starter" })
      yield* earlyInTheMinute
      const answers = yield* Effect.forEach(
        Array.from({ length: limit + 20 }),
        () => request("GET", "/v1/api-keys", { key })
      )
      const refused = answers.filter(({ status }) => status === 429)
      assert.isNotEmpty(refused)
      for (const { headers } of answers) {
        const left = headers["x-ratelimit-remaining"]
        assert.strictEqual(headers["x-ratelimit-limit"], String(limit))
        assert.strictEqual(headers["ratelimit-policy"], `"minute";q=${limit};w=60`)
        assert.match(headers["ratelimit"] ?? "", new RegExp(`^"minute";r=${left};t=([1-9]|[1-5]\\d|60)$`))
        assert.strictEqual(Number(headers["x-ratelimit-reset"]) % 60, 0)
      }
      for (const answer of refused) {
        assert.strictEqual(answer.headers["x-ratelimit-remaining"], "0")
        assert.strictEqual(answer.at("error", "limit"), limit)
        assert.strictEqual(answer.headers["retry-after"], String(answer.at("error", "retry_after")))
      }
    }))

  it.effect("is counted for each key, and not for an invalid key", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { accountId, key } = yield* makeAccount({ plan: "starter" })
      const other = yield* makeKey(accountId)
      const left = Effect.fnUntraced(function*(used: string) {
        return Number((yield* request("GET", "/v1/api-keys", { key: used })).headers["x-ratelimit-remaining"])
      })
      assert.deepStrictEqual([yield* left(key), yield* left(other.key)], [limit - 1, limit - 1])
      const unknown = yield* request("GET", "/v1/api-keys", { key: "sk_live_none" })
      assert.deepStrictEqual([unknown.status, unknown.headers["x-ratelimit-limit"]], [401, undefined])
    }))

  it.effect("is checked after the key and before scopes", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { accountId } = yield* makeAccount({ plan: "starter" })
      const { key } = yield* makeKey(accountId, { scopes: ["email:write"] })
      yield* earlyInTheMinute
      const answers = yield* Effect.forEach(Array.from({ length: limit + 20 }), () =>
        request("GET", "/v1/api-keys", { key }))
      assert.deepStrictEqual(
        [
          ...new Set(answers.map(({ status }) =>
            status
          ))
        ].toSorted(),
        [403, 429]
      )
      for (const { headers } of answers) assert.strictEqual(headers["x-ratelimit-limit"], String(limit))
    }))

  it.effect("of logins is per client address, for right and wrong passwords, over two nodes", () =>
    Effect.gen(function*() {
      const nodes = [yield* Service, yield* SecondNode]
      // Each address once, because repeated wrong passwords for one address pause its logins.
      const login = (i: number) => ({ email: `stranger${i}@example.com`, password: "wrong horse battery" })
      const ask = (i: number) =>
        nodes[i % 2]?.request("POST", "/v1/auth/login", { json: login(i) }) ?? Effect.die("no node")
      yield* earlyInTheMinute
      const answers = yield* Effect.forEach(Array.from({ length: 60 }, (_, i) => i), ask, { concurrency: 4 })
      const refused = answers.filter(({ status }) => status === 429)
      const passed = answers.filter(({ status }) => status === 401)
      assert.deepStrictEqual([passed.length, refused.length], [20, 40])
      for (const answer of refused) {
        assertRefused(answer, 429, "rate_limit_exceeded")
        assert.strictEqual(answer.headers["retry-after"], String(answer.at("error", "retry_after")))
      }
    }))

  it.effect("of logins counts a request before its body is read", () =>
    Effect.gen(function*() {
      const { raw, request } = yield* Service
      yield* earlyInTheMinute
      for (let sent = 0; sent <= 20; sent++) yield* request("POST", "/v1/auth/login", { json: {} })
      const head = "POST /v1/auth/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      const answer = yield* raw(`${head}Content-Length: 100\r\nConnection: close\r\n\r\n`)
      assert.match(answer, /^HTTP\/1\.1 429 /)
    }))
})

layer(RateLimit.layer.pipe(Layer.provideMerge(TestDatabase.layer)))("RateLimit", (it) => {
  it.effect("gives each request of a bucket a different number, in one statement or in many", () =>
    Effect.gen(function*() {
      const { count } = yield* RateLimit
      const usages = yield* Effect.forEach(
        Array.from({ length: 2000 }, (_, i) => i),
        (i) => Effect.map(count([{ name: `bucket:${i % 3}`, limit: 1_000_000 }]), ([usage]) => usage),
        {
          concurrency: "unbounded"
        }
      )
      for (let bucket = 0; bucket < 3; bucket++) {
        const own = usages.filter((_, i) => i % 3 === bucket)
        const minutes = Object.values(Object.groupBy(own, ({ resetsAt }) => resetsAt))
        for (const minute of minutes) {
          const numbers = minute?.map(({ used }) => used).toSorted((a, b) => a - b) ?? []
          assert.deepStrictEqual(numbers, numbers.map((_, i) => i + 1))
        }
        for (const { secondsLeft } of own) assert.isTrue(secondsLeft >= 1 && secondsLeft <= 60)
      }
    }))
})
