/** Who reaches the console: `CONSOLE_ALLOW` and `CONSOLE`. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { mailTo } from "../support/sandboxMails.ts"
import { makeAccount, Service } from "../support/Service.ts"

const pairingLink = Effect.fnUntraced(function*(key: string) {
  const { request } = yield* Service
  const created = yield* request("POST", "/v1/whatsapp/sessions", { key, json: {} })
  return yield* request("POST", `/v1/whatsapp/sessions/${String(created.at("id"))}/pairing-link`, { key })
})

const allowed = { CONSOLE_ALLOW: "10.0.0.0/8", TRUSTED_PROXIES: "127.0.0.1" }

layer(Service.layer({ env: allowed }), { excludeTestServices: true })("CONSOLE_ALLOW", (it) => {
  it.effect("opens the pages and forms of the console to its networks only, and those of links too", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      const link = yield* pairingLink(key)
      const pairing = URL.parse(String(link.at("data", "url")))?.pathname ?? ""
      const asked = [
        ["GET", "/console/sign-in", 200],
        ["GET", pairing, 200],
        ["GET", "/console/password/reset/rt_live_none", 200],
        // A form of a page that needs a sign-in.
        ["POST", "/console/sign-out", 302]
      ] as const
      for (const [method, path, inside] of asked) {
        const from = (headers: Readonly<Record<string, string>>) =>
          Effect.map(
            request(method, path, { headers }),
            ({ status }) => status
          )
        assert.strictEqual(yield* from({}), 404, path)
        assert.strictEqual(yield* from({ "x-forwarded-for": "192.0.2.1" }), 404, path)
        assert.strictEqual(yield* from({ "x-forwarded-for": "10.1.2.3, 192.0.2.1" }), 404, path)
        assert.strictEqual(yield* from({ "x-forwarded-for": "10.1.2.3" }), inside, path)
      }
    }))
})

layer(Service.layer({ env: { CONSOLE: "off" } }), { excludeTestServices: true })("CONSOLE=off", (it) => {
  it.effect("serves no page of the console, and makes no link to one", () =>
    Effect.gen(function*() {
      const { baseUrl, request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      for (const path of ["/console", "/console/", "/console/sign-in", "/console/pair/none"]) {
        assert.strictEqual((yield* request("GET", path)).status, 404, path)
      }
      assert.strictEqual((yield* request("POST", "/console/sign-in")).status, 404)
      const { accountId, key } = yield* makeAccount()
      const link = yield* pairingLink(key)
      assert.strictEqual(link.status, 503)
      assert.deepInclude(link.at("error"), { type: "pairing_unavailable", reason: "console_off" })
      const [owner] = yield* sql`select email from accounts where id = ${accountId}`
      const email = String(owner?.["email"])
      yield* request("POST", "/v1/auth/password/forgot", { json: { email } })
      const mail = yield* mailTo(email, "Set a new password")
      assert.include(mail, "rt_live_")
      assert.notInclude(mail, `${baseUrl}/console`)
      assert.notInclude(mail, "/console/")
    }))
})
