import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/accounts/Accounts.ts"
import { Audit } from "../../src/accounts/Audit.ts"
import { assertRefused, endpoints } from "../contract/contract.ts"
import { ownerOf } from "../support/consolePeople.ts"
import { mailsTo, mailTo } from "../support/sandboxMails.ts"
import { eventually, makeAccount, makeKey, Service } from "../support/Service.ts"
import { transaction } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"

const password = "correct horse battery"

const audited = Effect.fnUntraced(function*(accountId: number) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`select actor, action, target from audit_entries where account_id = ${accountId} order by id`
  return rows.map(({ action, actor, target }) => [actor, action, target].join(" | "))
})

const login = (email: string, secret: string) =>
  Effect.flatMap(
    Service,
    ({ request }) => request("POST", "/v1/auth/login", { json: { email, password: secret } })
  )

layer(Service.layer())((it) => {
  describe("account", () => {
    it.effect("GET /v1/account returns plan and trial, also to a key whose only scope is account:read", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const { accountId, email } = yield* makeAccount({ plan: "growth" })
        const { key } = yield* makeKey(accountId, { scopes: ["account:read"] })
        const read = yield* request("GET", "/v1/account", { key })
        assert.deepInclude(Object(read.at("data")), {
          id: accountId,
          email,
          plan: "growth",
          status: "active",
          trial_ends_at: null
        })
        for (const path of ["/v1/account/usage", "/v1/account/usage/daily", "/v1/account/billing"]) {
          assert.strictEqual((yield* request("GET", path, { key })).status, 200)
        }
        assertRefused(
          yield* request("PUT", "/v1/account/profile", { key, json: { name: "Eve" } }),
          403,
          "insufficient_scope"
        )
        assertRefused(yield* request("GET", "/v1/account/notifications", { key }), 403, "insufficient_scope")
      }))

    it.effect("PUT /v1/account/profile changes the given fields, keeps the rest and rejects invalid values", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const { email, key } = yield* makeAccount()
        const put = (json: unknown) => request("PUT", "/v1/account/profile", { key, json })
        const before = { name: "Test", email, pending_email: null, timezone: "UTC", locale: "en" }
        assert.deepStrictEqual((yield* put({})).at("data"), before)
        const change = { timezone: "Africa/Kigali", locale: "rw" }
        assert.deepStrictEqual((yield* put(change)).at("data"), { ...before, ...change })
        assert.deepStrictEqual((yield* put({ name: "Ada", plan: "enterprise", id: 1 })).at("data"), {
          ...before,
          ...change,
          name: "Ada"
        })
        const wrong = [
          [{ timezone: "Europe/Paris " }, "timezone"],
          [{ timezone: "Europe/Kigali" }, "timezone"],
          [{ timezone: "utc" }, "timezone"],
          [{ locale: "it" }, "locale"],
          [{ locale: "EN" }, "locale"],
          [{ locale: "pt-BR" }, "locale"],
          [{ name: "" }, "name"],
          [{ name: "A\r\nBcc: eve@example.com" }, "name"],
          [{ email: "not an address" }, "email"],
          [{ name: null }, "name"]
        ] as const
        for (const [json, param] of wrong) {
          const answer = yield* put(json)
          assertRefused(answer, 422, "validation_error")
          assert.strictEqual(answer.at("error", "param"), param)
        }
      }))

    it.effect("changing the password requires the current one, keeps sessions and keys valid and sends the owner a mail", () =>
      Effect.gen(function*() {
        const { baseUrl, request } = yield* Service
        const { accountId, email, key } = yield* makeAccount({ password })
        const session = String((yield* login(email, password)).at("data", "token"))
        const other = String((yield* login(email, password)).at("data", "token"))
        const { cookie } = yield* ownerOf(accountId)
        const put = (json: object) =>
          request("PUT", "/v1/account/password", { key: session, json: { current_password: password, ...json } })
        const next = "another horse battery"
        const wrong = [
          [{ password: next, password_confirmation: `${next}!` }, "password_confirmation"],
          [{ password: next }, "password_confirmation"],
          [{ password, password_confirmation: password }, "password"],
          [{ password: "Password1234!", password_confirmation: "Password1234!" }, "password"],
          [{ password: "123456789012", password_confirmation: "123456789012" }, "password"],
          [{ password: "horse", password_confirmation: "horse" }, "password"],
          [{ password: "ab ".repeat(43), password_confirmation: "ab ".repeat(43) }, "password"],
          [{ current_password: "wrong horse battery", password: next, password_confirmation: next }, "current_password"]
        ] as const
        for (const [json, param] of wrong) {
          const answer = yield* put(json)
          assertRefused(answer, 422, "validation_error")
          assert.strictEqual(answer.at("error", "param"), param)
          assert.notInclude(answer.text, "horse")
        }
        const changed = yield* put({ password: next, password_confirmation: next })
        assert.deepInclude(changed.json, { success: true, data: null })
        for (const credential of [session, other, key]) {
          assert.strictEqual((yield* request("GET", "/v1/account", { key: credential })).status, 200)
        }
        assertRefused(yield* login(email, password), 401, "invalid_credentials")
        assert.strictEqual((yield* login(email, next)).status, 200)
        assert.strictEqual((yield* request("GET", "/console/me", { headers: { cookie } })).status, 200)
        const mail = yield* mailTo(email, "Your password was changed")
        for (const list of ["sessions", "sign-ins"]) assert.include(mail, `DELETE ${baseUrl}/v1/account/${list}`)
        assert.include((yield* audited(accountId)).join(), "password.changed")
      }))

    it.effect("an account without a password is told how to get one, whatever it sends as the current one", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const { key } = yield* makeAccount()
        const json = { current_password: "?", password, password_confirmation: password }
        const refused = yield* request("PUT", "/v1/account/password", { key, json })
        assertRefused(refused, 422, "validation_error")
        assert.match(
          String(refused.at("error", "message")),
          /^current_password: .* no password yet; set one with POST \/v1\/auth\/password\/forgot\.$/
        )
      }))

    it.effect("a password reset token works once within an hour, and the answer does not reveal whether the account exists", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, email, key } = yield* makeAccount({ password })
        const session = String((yield* login(email, password)).at("data", "token"))
        yield* sql`insert into password_resets (token_hash, account_id, expires_at)
        values (sha256('asked for before'), ${accountId}, now() + interval '1 hour')`
        const forgot = (address: string) => request("POST", "/v1/auth/password/forgot", { json: { email: address } })
        const unknown = yield* forgot("unknown@example.com")
        const asked = yield* forgot(email)
        assert.deepStrictEqual([asked.status, unknown.status], [202, 202])
        assert.deepStrictEqual(Object.keys(Object(asked.json)), Object.keys(Object(unknown.json)))
        const mail = yield* mailTo(email, "Set a new password")
        const times = yield* sql`select expires_at - created_at = interval '1 hour' as is_hour from password_resets
          where account_id = ${accountId}`
        assert.deepStrictEqual(times.map(({ is_hour }) => is_hour), [true, true])
        const token = /rt_live_[0-9A-Za-z]{38}/.exec(mail)?.[0] ?? ""
        const next = "another horse battery"
        const reset = (json: object) =>
          request("POST", "/v1/auth/password/reset", {
            json: { token, password: next, password_confirmation: next, ...json }
          })
        const other = `${token.slice(0, -1)}${token.endsWith("x") ? "y" : "x"}`
        assertRefused(yield* reset({ token: other }), 410, "token_expired")
        assertRefused(yield* reset({ password_confirmation: "something else" }), 422, "validation_error")
        assertRefused(
          yield* reset({ password: "password1234", password_confirmation: "password1234" }),
          422,
          "validation_error"
        )
        const answers = yield* Effect.all(Array.from({ length: 5 }, () => reset({})), { concurrency: "unbounded" })
        assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [200, 410, 410, 410, 410])
        assert.deepStrictEqual(
          yield* sql`select from password_resets where account_id = ${accountId} and used_at is null`,
          []
        )
        assert.strictEqual((yield* login(email, next)).status, 200)
        assertRefused(yield* request("GET", "/v1/account", { key: session }), 401, "invalid_api_key")
        assert.strictEqual((yield* request("GET", "/v1/account", { key })).status, 200)
        yield* mailTo(email, "Your password was reset")

        yield* forgot(email)
        const second = yield* eventually(
          mailsTo(email),
          (mails) => mails.filter(({ subject }) => subject === "Set a new password").length === 2
        )
        const late = /rt_live_[0-9A-Za-z]{38}/.exec(
          second.find(({ subject }) => subject === "Set a new password")?.raw ?? ""
        )
        yield* sql`update password_resets set expires_at = now() where used_at is null`
        assertRefused(yield* reset({ token: late?.[0] ?? "" }), 410, "token_expired")
      }))

    it.effect("forgot answers while accounts cannot be read, so its time reveals none", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { email } = yield* makeAccount({ password })
        const forgot = (address: string) => request("POST", "/v1/auth/password/forgot", { json: { email: address } })
        const answers = yield* transaction(Effect.andThen(
          sql`lock table accounts, password_resets, notices`,
          Effect.all([forgot(email), forgot("nobody@example.com")], { concurrency: "unbounded" })
        ))
        assert.deepStrictEqual(answers.map(({ status }) => status), [202, 202])
        yield* mailTo(email, "Set a new password")
        yield* eventually(sql`select from password_reset_requests`, (rows) => rows.length === 0)
      }))

    it.effect("an account gets at most five password reset mails an hour", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, email } = yield* makeAccount({ password })
        for (let i = 0; i < 7; i++) {
          const answer = yield* request("POST", "/v1/auth/password/forgot", { json: { email: email.toUpperCase() } })
          assert.strictEqual(answer.status, 202)
        }
        yield* eventually(sql`select from password_reset_requests`, (rows) => rows.length === 0)
        const rows = yield* sql`select from notices where account_id = ${accountId} and kind = 'password_reset'`
        assert.strictEqual(rows.length, 5)
      }))

    it.effect("an account receives only the notices that it has switched on", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, email, key } = yield* makeAccount()
        const wants = {
          email_alerts: true,
          usage_warnings: true,
          weekly_digest: false,
          security_alerts: true,
          marketing_emails: false
        }
        assert.deepStrictEqual((yield* request("GET", "/v1/account/notifications", { key })).at("data"), wants)
        const make = (name: string) => request("POST", "/v1/api-keys", { key, json: { name } })
        yield* make("First")
        yield* mailTo(email, "A new API key was created: First")
        const put = (json: unknown) => request("PUT", "/v1/account/notifications", { key, json })
        const changed = yield* put({ security_alerts: false, weekly_digest: true })
        assert.deepStrictEqual(changed.at("data"), { ...wants, security_alerts: false, weekly_digest: true })
        assertRefused(yield* put({ security_alerts: "no" }), 422, "validation_error")
        const second = yield* make("Second")
        yield* eventually(
          sql`select from notices where account_id = ${accountId} and status = 'unwanted'`,
          (rows) => rows.length === 1
        )
        yield* request("DELETE", `/v1/api-keys/${String(second.at("data", "id"))}`, { key })
        yield* mailTo(email, "An API key was revoked: Second")
        assert.isFalse((yield* mailsTo(email)).some(({ subject }) => subject.includes("made: Second")))
      }))

    it.effect("the audit log records who changed what and contains no secrets", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, email, key, keyId } = yield* makeAccount()
        const made = yield* request("POST", "/v1/api-keys", { key, json: { name: "Second" } })
        yield* request("DELETE", `/v1/api-keys/${String(made.at("data", "id"))}`, { key })
        const hook = yield* request("POST", "/v1/webhooks", {
          key,
          json: { url: "https://example.com/?token=hush", events: ["*"] }
        })
        const path = `/v1/webhooks/${String(hook.at("data", "id"))}`
        yield* request("PUT", path, { key, json: { is_active: false } })
        const rotated = yield* request("POST", `${path}/rotate-secret`, { key, json: {} })
        yield* request("DELETE", path, { key })
        assertRefused(yield* request("DELETE", path, { key }), 404, "not_found")
        const domain = yield* request("POST", "/v1/email/domains", { key, json: { domain: "audit.example" } })
        const domainPath = `/v1/email/domains/${String(domain.at("data", "id"))}`
        const tracked = yield* request("PUT", domainPath, { key, json: { track_opens: true } })
        assert.strictEqual(tracked.status, 200, tracked.text)
        yield* request("DELETE", domainPath, { key })
        const alerts = yield* request("PUT", "/v1/account/notifications", { key, json: { security_alerts: false } })
        assert.strictEqual(alerts.status, 200, alerts.text)
        yield* request("POST", "/v1/auth/password/forgot", { json: { email } })
        yield* mailTo(email, "Set a new password")
        const actor = `key ${keyId}`
        const webhook = `webhook ${String(hook.at("data", "id"))}`
        assert.deepStrictEqual(yield* audited(accountId), [
          `system | key.created | ${actor}`,
          `${actor} | key.created | key ${String(made.at("data", "id"))}`,
          `${actor} | key.revoked | key ${String(made.at("data", "id"))}`,
          `${actor} | webhook.created | ${webhook}`,
          `${actor} | webhook.changed | ${webhook}`,
          `${actor} | webhook.secret_rotated | ${webhook}`,
          `${actor} | webhook.removed | ${webhook}`,
          `${actor} | domain.added | `,
          `${actor} | domain.changed | domain ${String(domain.at("data", "id"))}`,
          `${actor} | domain.removed | domain ${String(domain.at("data", "id"))}`,
          `${actor} | notifications.changed | `,
          "anonymous | password.reset_asked | "
        ])
        const [book] =
          yield* sql`select string_agg(e::text, ' ') as text from audit_entries e where account_id = ${accountId}`
        for (
          const secret of [made.at("data", "key"), hook.at("data", "secret"), rotated.at("data", "secret"), "hush"]
        ) {
          assert.notInclude(String(book?.["text"]), String(secret).slice(0, 12))
        }
      }))
  })

  describe("plan and usage", () => {
    it.effect("a trial excludes webhooks, and an expired trial refuses to send with 402 but still allows reads", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, key } = yield* makeAccount({ plan: "starter", trial: true })
        const sending = endpoints.filter(({ method, path }) => method === "POST" && /\/send(-bulk)?$/.test(path))
        assert.isAbove(sending.length, 1)
        for (const { rule } of sending) assert.deepInclude(Object(rule), { paid: "sending" })
        const managing = endpoints.filter(({ method, path }) =>
          method !== "GET" && /^\/v1\/webhooks(\/:id(\/rotate-secret)?)?$/.test(path)
        )
        assert.strictEqual(managing.length, 4)
        for (const { rule } of managing) assert.deepInclude(Object(rule), { paid: "subscription" })

        const send = request("POST", "/v1/email/send", { key, json: { to: "a@example.com", subject: "s", text: "t" } })
        const hook = request("POST", "/v1/webhooks", { key, json: { url: "https://example.com/", events: ["*"] } })
        assert.strictEqual((yield* send).status, 202)
        assertRefused(yield* hook, 402, "subscription_required")
        assert.strictEqual((yield* request("GET", "/v1/account", { key })).at("data", "status"), "trial")
        yield* sql`update accounts set trial_ends_at = now() where id = ${accountId}`
        assertRefused(yield* send, 402, "subscription_expired")
        assertRefused(yield* hook, 402, "subscription_required")
        for (const path of ["/v1/account", "/v1/account/usage", "/v1/email/messages", "/v1/webhooks"]) {
          assert.strictEqual((yield* request("GET", path, { key })).status, 200)
        }
      }))

    it.effect("a test key has the trial of its account, until a plan is chosen", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const { accountId } = yield* makeAccount({ plan: "starter", trial: true })
        const { key } = yield* makeKey(accountId, { mode: "test" })
        const hook = request("POST", "/v1/webhooks", { key, json: { url: "https://example.com/", events: ["*"] } })
        assertRefused(yield* hook, 402, "subscription_required")
        yield* Effect.flatMap(Accounts, ({ setPlan }) => setPlan(accountId, "growth")).pipe(
          Effect.provide(Accounts.layer.pipe(Layer.provide(Audit.layer)))
        )
        assert.strictEqual((yield* hook).status, 201)
      }))

    it.effect("emails are counted by day and month, and sending beyond the quota is refused with 402", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, key } = yield* makeAccount({ plan: "starter" })
        const send = request("POST", "/v1/email/send", {
          key,
          json: { to: ["a@example.com", "b@example.com"], subject: "s", text: "t" }
        })
        const bulk = (count: number) =>
          request("POST", "/v1/email/send-bulk", {
            key,
            json: { recipients: Array.from({ length: count }, (_, i) => `r${i}@example.com`), subject: "s", html: "h" }
          })
        yield* send
        assert.strictEqual((yield* bulk(3)).status, 202)
        const usage = yield* eventually(
          request("GET", "/v1/account/usage", { key }),
          ({ at }) => at("data", "metrics", 1, "count") === 5,
          longer.turn
        )
        assert.deepStrictEqual(usage.at("data", "metrics"), [
          { metric: "email", count: 5, cost_usd: 0 },
          { metric: "email_sent", count: 5, cost_usd: 0 }
        ])
        assert.deepInclude(Object(usage.at("data", "quotas", 0)), {
          resource: "email",
          limit: 5000,
          used: 5,
          remaining: 4995
        })
        assert.match(String(usage.at("data", "quotas", 0, "resets_at")), /^\d{4}-\d\d-01T00:00:00\.000000Z$/)
        yield* sql`insert into usage_daily (account_id, day, metric, slot, count, cost_micros)
        values (${accountId}, (now() at time zone 'UTC')::date, 'email', 99, 4993, 0)`
        for (const answer of [yield* bulk(3), yield* Effect.andThen(send, send)]) {
          assertRefused(answer, 402, "email_quota_exceeded")
          assert.deepInclude(Object(answer.at("error")), { limit: 5000, resource: "emails" })
        }
        assert.strictEqual((yield* request("GET", "/v1/email/messages", { key })).at("meta", "total"), 5)
        assert.deepStrictEqual(
          (yield* request("GET", "/v1/account/usage", { key })).at("data", "quotas", 0, "remaining"),
          0
        )
      }))

    it.effect("usage reports high_volume above 100,000 SMS in a month, and nothing is refused", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, key } = yield* makeAccount()
        yield* sql`insert into usage_daily (account_id, day, metric, slot, count, cost_micros)
        values (${accountId}, (now() at time zone 'UTC')::date, 'sms', 99, 100000, 0)`
        const isHigh = Effect.map(request("GET", "/v1/account/usage", { key }), ({ at }) => at("data", "high_volume"))
        assert.strictEqual(yield* isHigh, false)
        const sms = { to: "+250788123456", content: "Hello" }
        for (let sent = 1; sent <= 2; sent++) {
          assert.strictEqual((yield* request("POST", "/v1/sms/send", { key, json: sms })).status, 202)
          assert.strictEqual(yield* isHigh, true)
        }
      }))

    it.effect("usage and cost can be read for a date range by day, week or month", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId, key } = yield* makeAccount()
        const rows = [["2026-01-31", 2, 50_000], ["2026-02-01", 3, 100_000], ["2026-02-02", 5, 25_000]] as const
        for (const [day, count, cost] of rows) {
          yield* sql`insert into usage_daily (account_id, day, metric, slot, count, cost_micros)
          values (${accountId}, ${day}::date, 'sms', 0, ${count}, ${cost})`
        }
        const daily = (query: string) => request("GET", `/v1/account/usage/daily?${query}`, { key })
        const dates = (answer: { readonly at: (...path: ReadonlyArray<string | number>) => unknown }) =>
          [0, 1, 2].flatMap((index) => {
            const date = answer.at("data", index, "date")
            return date === undefined ? [] : [`${String(date)} ${String(answer.at("data", index, "count"))}`]
          })
        const spring = "from_date=2026-01-01&to_date=2026-03-01"
        assert.deepStrictEqual(dates(yield* daily(spring)), ["2026-01-31 2", "2026-02-01 3", "2026-02-02 5"])
        assert.deepStrictEqual(dates(yield* daily(`${spring}&granularity=month`)), ["2026-01-01 2", "2026-02-01 8"])
        assert.deepStrictEqual(dates(yield* daily(`${spring}&granularity=week`)), ["2026-01-26 5", "2026-02-02 5"])
        assert.deepStrictEqual(dates(yield* daily("from_date=2026-02-01&to_date=2026-02-02")), ["2026-02-01 3"])
        const moment = `from_date=${encodeURIComponent("2026-02-02T01:00:00+02:00")}&to_date=2026-02-02T00:00:00Z`
        assert.deepStrictEqual(dates(yield* daily(moment)), ["2026-02-01 3"])
        assert.deepStrictEqual(dates(yield* daily("")), [])

        const billing = yield* request("GET", `/v1/account/billing?${spring}`, { key })
        assert.deepInclude(Object(billing.at("data")), {
          plan: "enterprise",
          status: "active",
          currency: "USD",
          amount_usd: 0.175,
          period: { from: "2026-01-01", to: "2026-03-01" },
          lines: [
            { date: "2026-01-01", metric: "sms", quantity: 2, amount_usd: 0.05 },
            { date: "2026-02-01", metric: "sms", quantity: 8, amount_usd: 0.125 }
          ]
        })
        const wrong = [
          ["from_date=2026-02-30", "from_date"],
          ["from_date=yesterday", "from_date"],
          ["from_date=0000-01-01", "from_date"],
          ["from_date=2026-02-02&to_date=2026-02-02", "to_date"],
          ["from_date=2026-02-02&to_date=2026-02-01", "to_date"],
          ["from_date=2024-01-01&to_date=2026-02-01", "from_date"],
          ["granularity=hour", "granularity"]
        ] as const
        for (const [query, param] of wrong) {
          const answer = yield* daily(query)
          assertRefused(answer, 422, "validation_error")
          assert.strictEqual(answer.at("error", "param"), param)
        }
      }))
  })
})
