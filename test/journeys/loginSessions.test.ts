import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { assertRefused } from "../contract/contract.ts"
import { eventually, makeAccount, type RunningNode, Service, startNode } from "../support/Service.ts"

class SecondNode
  extends Context.Service<SecondNode, RunningNode>()("messaging-service/test/journeys/loginSessions.test/SecondNode")
{
  static readonly layer = Layer.effect(SecondNode, startNode())
}

const password = "correct horse battery"

const login = Effect.fnUntraced(function*(email: string, agent = "test") {
  const { request } = yield* Service
  const answer = yield* request("POST", "/v1/auth/login", {
    json: { email, password },
    headers: { "user-agent": agent }
  })
  return String(answer.at("data", "token"))
})

const listOf = Effect.fnUntraced(function*(key: string) {
  const { request } = yield* Service
  const { at } = yield* request("GET", "/v1/account/sessions", { key })
  return Array.from(Object(at("data")), (row) => Object(row))
})

layer(SecondNode.layer.pipe(Layer.provideMerge(Service.layer())))("login sessions", (it) => {
  it.effect("the list has each login with its address and program, marks the caller's own, and never shows a token", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { email, key } = yield* makeAccount({ password })
      const [phone, laptop] = [yield* login(email, "phone/1"), yield* login(email, "laptop/2".padEnd(300, "x"))]
      const seen = yield* listOf(laptop)
      assert.deepStrictEqual(
        seen.map(({ client_address, is_current, user_agent }) => [client_address, user_agent, is_current]),
        [["127.0.0.1", "laptop/2".padEnd(200, "x"), true], ["127.0.0.1", "phone/1", false]]
      )
      assert.deepStrictEqual((yield* listOf(key)).map(({ is_current }) => is_current), [false, false])
      const { text } = yield* request("GET", "/v1/account/sessions", { key })
      for (const token of [phone, laptop]) assert.notInclude(text, token.slice("lt_live_".length))
      const stranger = yield* makeAccount()
      assert.deepStrictEqual(yield* listOf(stranger.key), [])
    }))

  it.effect("an ended session is refused on every node at once, and other sessions stay", () =>
    Effect.gen(function*() {
      const [here, there] = [yield* Service, yield* SecondNode]
      const { email } = yield* makeAccount({ password })
      const [stolen, own] = [yield* login(email, "thief"), yield* login(email, "owner")]
      const id = Number((yield* listOf(own)).find(({ user_agent }) => user_agent === "thief")?.id)
      assert.strictEqual((yield* there.request("GET", "/v1/account", { key: stolen })).status, 200)
      assert.strictEqual((yield* here.request("DELETE", `/v1/account/sessions/${id}`, { key: own })).status, 200)
      assertRefused(yield* there.request("GET", "/v1/account", { key: stolen }), 401, "invalid_api_key")
      assertRefused(yield* here.request("DELETE", `/v1/account/sessions/${id}`, { key: own }), 404, "not_found")
      assert.deepStrictEqual((yield* listOf(own)).map(({ user_agent }) => user_agent), ["owner"])
    }))

  it.effect("DELETE /v1/account/sessions ends all sessions but the caller's own, and a key ends all of them", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { email, key } = yield* makeAccount({ password })
      const [first, second, own] = [yield* login(email), yield* login(email), yield* login(email)]
      const removed = yield* request("DELETE", "/v1/account/sessions", { key: own })
      assert.deepInclude(removed.json, { success: true, data: null })
      for (const token of [first, second]) {
        assertRefused(yield* request("GET", "/v1/account", { key: token }), 401, "invalid_api_key")
      }
      assert.strictEqual((yield* request("GET", "/v1/account", { key: own })).status, 200)
      yield* request("DELETE", "/v1/account/sessions", { key })
      assertRefused(yield* request("GET", "/v1/account", { key: own }), 401, "invalid_api_key")
      assert.deepStrictEqual(yield* listOf(key), [])
    }))

  it.effect("last_used_at of a session is set by its use, and updated at most once a minute", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { email, key } = yield* makeAccount({ password })
      const token = yield* login(email)
      const lastUse = Effect.map(listOf(key), ([row]) => row?.["last_used_at"])
      assert.isNull(yield* lastUse)
      yield* listOf(token)
      const first = yield* eventually(lastUse, (at) => at !== null)
      yield* listOf(token)
      assert.strictEqual(yield* lastUse, first)
      yield* sql`update login_sessions set last_used_at = now() - interval '61 seconds'`
      yield* listOf(token)
      yield* eventually(lastUse, (at) => String(at) > String(first))
    }))

  it.effect("the 101st login ends the oldest session", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, email } = yield* makeAccount({ password })
      const oldest = yield* login(email)
      yield* sql`insert into login_sessions (token_hash, account_id, expires_at)
        select sha256(gen_random_uuid()::text::bytea), ${accountId}, now() + interval '1 day'
        from generate_series(1, 99)`
      assert.strictEqual((yield* request("GET", "/v1/account", { key: oldest })).status, 200)
      const newest = yield* login(email)
      assertRefused(yield* request("GET", "/v1/account", { key: oldest }), 401, "invalid_api_key")
      assert.strictEqual((yield* listOf(newest)).length, 100)
    }))
})
