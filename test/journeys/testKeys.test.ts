import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { assertRefused } from "../contract/contract.ts"
import { eventually, makeAccount, Service } from "../support/Service.ts"
import { longer } from "../support/waiting.ts"

const createTestKey = Effect.fnUntraced(function*(key: string, name = "CI") {
  const { request } = yield* Service
  const made = yield* request("POST", "/v1/api-keys", { key, json: { name, mode: "test" } })
  assert.strictEqual(made.status, 201, made.text)
  return { id: Number(made.at("data", "id")), key: String(made.at("data", "key")), made }
})

layer(Service.layer())("test keys", (it) => {
  it.effect("a live key and a login create test keys, which have their own form and mode", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const password = "correct horse battery staple"
      const { email, key, keyId } = yield* makeAccount({ password })
      const { id, key: testKey, made } = yield* createTestKey(key)
      assert.match(testKey, /^sk_test_[0-9A-Za-z]{38}$/)
      assert.deepInclude(made.at("data"), { mode: "test", key_prefix: testKey.slice(0, 12) })
      assert.strictEqual((yield* request("GET", String(made.headers["location"]), { key })).at("data", "mode"), "test")

      const login = yield* request("POST", "/v1/auth/login", { json: { email, password } })
      const second = yield* createTestKey(String(login.at("data", "token")))
      const modes = yield* request("GET", "/v1/api-keys", { key })
      assert.deepStrictEqual(
        [0, 1, 2].map((index) => [modes.at("data", index, "id"), modes.at("data", index, "mode")]),
        [[second.id, "test"], [id, "test"], [keyId, "live"]]
      )
    }))

  it.effect("a test key creates, sees and revokes test keys only", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key, keyId } = yield* makeAccount()
      const { id, key: testKey } = yield* createTestKey(key)
      const child = yield* request("POST", "/v1/api-keys", { key: testKey, json: { name: "Child" } })
      assert.match(String(child.at("data", "key")), /^sk_test_/)
      assertRefused(
        yield* request("POST", "/v1/api-keys", { key: testKey, json: { name: "Live", mode: "live" } }),
        403,
        "live_key_required"
      )
      const listed = yield* request("GET", "/v1/api-keys", { key: testKey })
      assert.deepStrictEqual([listed.at("data", 0, "id"), listed.at("data", 1, "id"), listed.at("data", 2)], [
        child.at("data", "id"),
        id,
        undefined
      ])
      assertRefused(yield* request("GET", `/v1/api-keys/${keyId}`, { key: testKey }), 404, "not_found")
      assertRefused(yield* request("DELETE", `/v1/api-keys/${keyId}`, { key: testKey }), 404, "not_found")
      const revoked = yield* request("DELETE", `/v1/api-keys/${String(child.at("data", "id"))}`, { key: testKey })
      assert.strictEqual(revoked.status, 200)
      assertRefused(
        yield* request("GET", "/v1/api-keys", { key: String(child.at("data", "key")) }),
        401,
        "revoked_api_key"
      )
      // The owner revokes them too.
      assert.strictEqual((yield* request("DELETE", `/v1/api-keys/${id}`, { key })).status, 200)
      assertRefused(yield* request("GET", "/v1/api-keys", { key: testKey }), 401, "revoked_api_key")
    }))

  it.effect("another account neither sees nor revokes a test key", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const [mine, theirs] = [yield* makeAccount(), yield* makeAccount()]
      const { id } = yield* createTestKey(mine.key)
      const other = yield* createTestKey(theirs.key)
      for (const key of [theirs.key, other.key]) {
        assertRefused(yield* request("GET", `/v1/api-keys/${id}`, { key }), 404, "not_found")
        assertRefused(yield* request("DELETE", `/v1/api-keys/${id}`, { key }), 404, "not_found")
      }
    }))

  it.effect("test keys have their own limit of the plan, which follows the owner's", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount({ plan: "starter" })
      const { key: testKey } = yield* createTestKey(key)
      const full = yield* request("POST", "/v1/api-keys", { key, json: { name: "Second", mode: "test" } })
      assertRefused(full, 402, "plan_limit_exceeded")
      assert.deepInclude(full.at("error"), { limit: 1, current: 1 })
      const rows = sql`select plan from accounts where id in (${accountId}, ${-accountId}) order by id`
      assert.deepStrictEqual(yield* rows, [{ plan: "starter" }, { plan: "starter" }])
      const profile = { timezone: "Africa/Kigali", locale: "rw" }
      assert.strictEqual((yield* request("PUT", "/v1/account/profile", { key, json: profile })).status, 200)
      // A test key reads its owner's account.
      const account = yield* request("GET", "/v1/account", { key: testKey })
      assert.deepStrictEqual(account.json, (yield* request("GET", "/v1/account", { key })).json)
    }))

  it.effect("deleting the account erases its shadow account and refuses its test keys at once", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount()
      const { key: testKey } = yield* createTestKey(key)
      yield* request("POST", "/v1/email/suppressions", { key: testKey, json: { email: "ada@example.com" } })
      assert.strictEqual(
        (yield* request("DELETE", "/v1/account", { key, json: { confirmation: "DELETE" } })).status,
        200
      )
      assertRefused(yield* request("GET", "/v1/api-keys", { key: testKey }), 401, "revoked_api_key")
      const left = sql`select from suppressions where account_id = ${-accountId}`
      yield* eventually(left, (rows) => rows.length === 0, longer.turn)
      yield* sql`update account_erasures set requested_at = now() - interval '1 hour', next_at = now()
        where account_id in (${accountId}, ${-accountId})`
      yield* eventually(
        sql`select from accounts where id in (${accountId}, ${-accountId})`,
        (rows) => rows.length === 0,
        longer.turn
      )
    }))
})
