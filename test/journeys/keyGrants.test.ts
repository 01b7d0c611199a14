import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { assertRefused } from "../contract/contract.ts"
import { eventually, makeAccount, makeKey, Service } from "../support/Service.ts"

const password = "correct horse battery"

const loginOf = Effect.fnUntraced(function*(email: string) {
  const { request } = yield* Service
  return String((yield* request("POST", "/v1/auth/login", { json: { email, password } })).at("data", "token"))
})

const create = Effect.fnUntraced(
  function*(key: string, json: object = {}, headers: Readonly<Record<string, string>> = {}) {
    const { request } = yield* Service
    return yield* request("POST", "/v1/api-keys", { key, json: { name: "Child", ...json }, headers })
  }
)

/** An account with a login that is 16 minutes old. */
const oldLogin = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { accountId, email } = yield* makeAccount({ password })
  const token = yield* loginOf(email)
  yield* sql`update login_sessions set created_at = created_at - interval '16 minutes' where account_id = ${accountId}`
  return { accountId, token }
})

layer(Service.layer())("keys that a caller may create", (it) => {
  it.effect("a login of the last 15 minutes creates a key without an end", () =>
    Effect.gen(function*() {
      const { email } = yield* makeAccount({ password })
      const made = yield* create(yield* loginOf(email))
      assert.deepStrictEqual([made.status, made.at("data", "expires_at")], [201, null])
    }))

  it.effect("an older login creates a key that outlives it only with the current password", () =>
    Effect.gen(function*() {
      const { token } = yield* oldLogin
      for (const json of [{}, { expires_at: null }, { expires_at: "2999-01-01T00:00:00Z" }]) {
        const refused = yield* create(token, json)
        assertRefused(refused, 403, "fresh_login_required")
        const end = String(refused.at("error", "expires_at"))
        assert.include(String(refused.at("error", "message")), "current_password")
        assert.strictEqual((yield* create(token, { expires_at: end })).status, 201)
      }
      assert.strictEqual((yield* create(token, { current_password: password })).at("data", "expires_at"), null)
    }))

  it.effect("a wrong current password is refused with 422, even where no password is needed", () =>
    Effect.gen(function*() {
      const { token } = yield* oldLogin
      const { key } = yield* makeAccount({ password })
      for (const caller of [token, key]) {
        const refused = yield* create(caller, { current_password: "wrong horse battery" })
        assertRefused(refused, 422, "validation_error")
        assert.strictEqual(refused.at("error", "param"), "current_password")
      }
    }))

  it.effect("guesses of the current password count per account, over keys and the change of the password", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount({ password })
      yield* create(key, { current_password: "wrong horse battery" })
      yield* request("PUT", "/v1/account/password", {
        key,
        json: { current_password: "wrong", password: "another horse", password_confirmation: "another horse" }
      })
      // The node releases what it counted ahead.
      yield* eventually(
        sql`select sum(used)::int as used from rate_windows where bucket = ${`password:${accountId}`}`,
        ([row]) => row?.["used"] === 2
      )
    }))

  it.effect("a password is refused together with an Idempotency-Key, and no hash of the body is kept", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { token } = yield* oldLogin
      for (const name of ["Child", ""]) {
        const json = { name, current_password: password }
        const refused = yield* create(token, json, { "idempotency-key": "child-1" })
        assertRefused(refused, 422, "validation_error")
        assert.strictEqual(refused.at("error", "param"), "current_password")
      }
      assert.deepStrictEqual(yield* sql`select from idempotency_records`, [])
    }))

  it.effect("a key with an end creates no key that ends later, not even with the current password", () =>
    Effect.gen(function*() {
      const { email, key } = yield* makeAccount({ password })
      const end = "2990-01-01T00:00:00.000500Z"
      const short = String((yield* create(key, { expires_at: end })).at("data", "key"))
      for (
        const json of [{}, { expires_at: null }, { expires_at: "2990-01-01T00:00:00.000501Z" }, {
          current_password: password
        }]
      ) {
        const refused = yield* create(short, json)
        assertRefused(refused, 403, "key_outlives_caller")
        assert.strictEqual(refused.at("error", "expires_at"), end)
      }
      // The same instant in another offset.
      const same = yield* create(short, { expires_at: "2990-01-01T01:00:00.0005+01:00" })
      assert.deepStrictEqual([same.status, same.at("data", "expires_at")], [201, end])
      assert.strictEqual((yield* create(yield* loginOf(email))).status, 201)
    }))

  it.effect("a key creates one with rights that it lacks only with the current password", () =>
    Effect.gen(function*() {
      const { accountId } = yield* makeAccount({ password })
      const { key } = yield* makeKey(accountId, { permissions: ["keys:write"] })
      assertRefused(yield* create(key, { permissions: ["account:write"] }), 403, "insufficient_permission")
      assertRefused(yield* create(key), 403, "insufficient_permission")
      const wider = yield* create(key, { permissions: ["account:write"], current_password: password })
      assert.deepStrictEqual(wider.at("data", "permissions"), ["account:write"])
      assert.strictEqual((yield* create(key, { current_password: password })).status, 201)
    }))

  it.effect("a test key creates one with rights that it lacks only with the current password of the owner", () =>
    Effect.gen(function*() {
      const { accountId } = yield* makeAccount({ password })
      const { key } = yield* makeKey(accountId, { mode: "test", permissions: ["keys:write"] })
      assertRefused(yield* create(key), 403, "insufficient_permission")
      const wrong = yield* create(key, { current_password: "wrong horse battery" })
      assertRefused(wrong, 422, "validation_error")
      const wider = yield* create(key, { current_password: password })
      assert.deepStrictEqual([wider.status, wider.at("data", "mode")], [201, "test"])
    }))

  it.effect("a key without an end and with all rights creates any key, as before", () =>
    Effect.gen(function*() {
      const { key } = yield* makeAccount()
      assert.strictEqual((yield* create(key)).status, 201)
    }))
})
