import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { mint } from "../../src/platform/crypto/Tokens.ts"
import { Authentication } from "../../src/platform/http/Authentication.ts"
import { RequestRules } from "../../src/platform/http/RequestRules.ts"
import { Permission } from "../../src/values/Permission.ts"
import { makeAccount, makeKey, Service } from "../support/Service.ts"
import { assertRefused, endpoints, fill, foreignScope, guarded } from "./contract.ts"

/** Every public endpoint. A new one must be added here by hand. */
const publicEndpoints = [
  "POST /v1/auth/register",
  "POST /v1/auth/login",
  "POST /v1/auth/password/forgot",
  "POST /v1/auth/password/reset",
  "GET /v1/sms/pricing"
]

describe("access rules of the contract", () => {
  it("every endpoint declares who may call it", () => {
    assert.deepStrictEqual(endpoints.filter(({ rule }) => rule === undefined).map(({ name }) => name), [])
  })

  it("exactly the listed endpoints are public", () => {
    assert.sameMembers(endpoints.filter(({ rule }) => rule?.kind === "public").map(({ name }) => name), publicEndpoints)
  })

  it("every endpoint that is not public has the Authentication middleware, and no public one has it", () => {
    const authenticated = endpoints.filter(({ middleware }) => middleware.includes(Authentication.key))
    assert.deepStrictEqual(authenticated.map(({ name }) => name), guarded.map(({ name }) => name))
  })

  it("every endpoint has the RequestRules middleware", () => {
    const without = endpoints.filter(({ middleware }) => !middleware.includes(RequestRules.key))
    assert.deepStrictEqual(without.map(({ name }) => name), [])
  })

  it("every account endpoint requires a permission, except logout", () => {
    const silent = guarded.filter(({ rule }) => rule.permission === undefined)
    assert.deepStrictEqual(silent.map(({ name }) => name), ["POST /v1/auth/logout"])
  })
})

layer(Service.layer())("credentials", (it) => {
  for (const { method, name, path, rule } of guarded) {
    const at = fill(path, 1)

    it.effect(`${name} answers 401 without a key and names the scheme`, () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        for (const headers of [{}, { authorization: "Basic c2tfbGl2ZV8=" }, { authorization: "Bearer " }]) {
          const answer = yield* request(method, at, { headers })
          assertRefused(answer, 401, "missing_api_key")
          assert.strictEqual(answer.headers["www-authenticate"], `Bearer realm="api"`)
        }
      }))

    it.effect(`${name} answers 401 with different types for an unknown, a revoked and an expired key`, () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, key } = yield* makeAccount()
        const [revoked, expired] = [yield* makeKey(accountId), yield* makeKey(accountId)]
        yield* request("DELETE", `/v1/api-keys/${revoked.id}`, { key })
        yield* sql`update api_keys set expires_at = now() where id = ${expired.id}`
        for (
          const [credential, type] of [
            [mint("sk_live_"), "invalid_api_key"],
            [mint("lt_live_"), "invalid_api_key"],
            [`${key}x`, "invalid_api_key"],
            [revoked.key, "revoked_api_key"],
            [expired.key, "expired_api_key"]
          ] as const
        ) {
          const answer = yield* request(method, at, { key: credential })
          assertRefused(answer, 401, type)
          assert.strictEqual(answer.headers["www-authenticate"], `Bearer realm="api"`)
        }
      }))

    it.effect(`${name} answers 403 to a key of another scope and names the required scopes`, () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const { accountId } = yield* makeAccount()
        const { key } = yield* makeKey(accountId, { scopes: foreignScope(rule.scopes) })
        const answer = yield* request(method, at, { key })
        assertRefused(answer, 403, "insufficient_scope")
        assert.deepStrictEqual(answer.at("error", "required"), rule.scopes)
        assert.strictEqual(
          answer.headers["www-authenticate"],
          `Bearer error="insufficient_scope", scope="${rule.scopes.join(" ")}"`
        )
      }))

    if (rule.permission !== undefined) {
      it.effect(`${name} answers 403 to a key with every permission but ${rule.permission}`, () =>
        Effect.gen(function*() {
          const { request } = yield* Service
          const { accountId } = yield* makeAccount()
          const others = Permission.literals.filter((permission) => permission !== rule.permission)
          const unscoped = yield* makeKey(accountId, { permissions: others })
          const scoped = yield* makeKey(accountId, { permissions: others, scopes: rule.scopes })
          for (const { key } of [unscoped, scoped]) {
            const answer = yield* request(method, at, { key })
            assertRefused(answer, 403, "insufficient_permission")
            assert.strictEqual(answer.at("error", "required"), rule.permission)
          }
        }))
    }

    if (rule.paid !== "no") {
      it.effect(`${name} answers 402 to an account ${rule.paid === "sending" ? "whose trial is over" : "in its trial"}`, () =>
        Effect.gen(function*() {
          const { request } = yield* Service
          const sql = yield* SqlClient.SqlClient
          const { accountId, key } = yield* makeAccount({ trial: true })
          if (rule.paid === "sending") {
            yield* sql`update accounts set trial_ends_at = now() where id = ${accountId}`
            assertRefused(yield* request(method, at, { key }), 402, "subscription_expired")
          } else assertRefused(yield* request(method, at, { key }), 402, "subscription_required")
        }))
    }
  }

  it.effect("the key is checked before the scope, the permission, the plan and the body", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { accountId } = yield* makeAccount({ trial: true })
      const scoped = yield* makeKey(accountId, { scopes: ["email:write"], permissions: ["emails:write"] })
      const limited = yield* makeKey(accountId, { permissions: ["emails:write"] })
      const post = (key?: string) => request("POST", "/v1/webhooks", { key, body: "{" })
      assertRefused(yield* post(), 401, "missing_api_key")
      assertRefused(yield* post(scoped.key), 403, "insufficient_scope")
      assertRefused(yield* post(limited.key), 403, "insufficient_permission")
      assertRefused(yield* post((yield* makeAccount({ trial: true })).key), 402, "subscription_required")
      assertRefused(yield* post((yield* makeAccount()).key), 400, "invalid_json")
    }))
})
