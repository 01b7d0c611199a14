import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { assertRefused } from "../contract/contract.ts"
import { earlyInTheMinute, makeAccount, makeKey, type RunningNode, Service } from "../support/Service.ts"

/** The annotations of the line about a request. */
const refusalOf = Effect.fnUntraced(function*(node: RunningNode, requestId: unknown) {
  const line = yield* node.logged(`"request_id":"${String(requestId)}"`)
  const { annotations, message } = JSON.parse(line)
  assert.strictEqual(message, "request refused")
  return annotations
})

layer(Service.layer({ env: { RATE_LIMIT_LOGIN: "3" } }), { excludeTestServices: true })(
  "the log of refusals",
  (it) => {
    it.effect("a request of a revoked key is logged with the visible part of the key", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const made = yield* node.request("POST", "/v1/api-keys", { key, json: { name: "Leaked" } })
        const leaked = String(made.at("data", "key"))
        yield* node.request("DELETE", `/v1/api-keys/${made.at("data", "id")}`, { key })
        const headers = { "x-request-id": "r".repeat(200) }
        const answer = yield* node.request("GET", "/v1/webhooks/12345678", { key: leaked, headers })
        assertRefused(answer, 401, "revoked_api_key")
        assert.notInclude(answer.headers["x-request-id"], "r")
        const seen = yield* refusalOf(node, answer.headers["x-request-id"])
        assert.deepStrictEqual(seen, {
          request_id: answer.headers["x-request-id"],
          client_request_id: "r".repeat(128),
          client_address: "127.0.0.1",
          method: "GET",
          route: "/v1/webhooks/:id",
          status: 401,
          reason: "revoked_api_key",
          key_prefix: leaked.slice(0, 12)
        })
        const log = node.logs.join("\n")
        for (const secret of [key, leaked, "12345678"]) assert.notInclude(log, secret)
      }))

    it.effect("a request beyond a key's scopes is logged with the key and its account", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { accountId } = yield* makeAccount()
        const { id, key } = yield* makeKey(accountId, { scopes: ["sms:write"] })
        const answer = yield* node.request("GET", "/v1/webhooks", { key })
        assertRefused(answer, 403, "insufficient_scope")
        const seen = yield* refusalOf(node, answer.headers["x-request-id"])
        assert.deepInclude(seen, { status: 403, reason: "insufficient_scope", account_id: accountId, key_id: id })
      }))

    it.effect("failed and too many logins are logged without what was entered", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const json = { email: "grace@example.com", password: "wrong horse battery" }
        yield* earlyInTheMinute
        const login = node.request("POST", "/v1/auth/login", { json })
        const failed = yield* login
        assertRefused(failed, 401, "invalid_credentials")
        const seen = yield* refusalOf(node, failed.headers["x-request-id"])
        assert.deepInclude(seen, { route: "/v1/auth/login", reason: "invalid_credentials" })
        yield* login
        yield* login
        const limited = yield* login
        assertRefused(limited, 429, "rate_limit_exceeded")
        assert.deepInclude(yield* refusalOf(node, limited.headers["x-request-id"]), { status: 429 })
        const log = node.logs.join("\n")
        for (const entered of Object.values(json)) assert.notInclude(log, entered)
      }))
  }
)
