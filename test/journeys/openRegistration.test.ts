import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../src/accounts/Accounts.ts"
import { Audit } from "../../src/accounts/Audit.ts"
import * as Tokens from "../../src/platform/crypto/Tokens.ts"
import { AccountId } from "../../src/values/Ids.ts"
import { assertRefused } from "../contract/contract.ts"
import { sendCode } from "../support/codes.ts"
import { ownerOf } from "../support/consolePeople.ts"
import { mailTo } from "../support/sandboxMails.ts"
import { eventually, makeAccount, makeKey, type RunningNode, Service, startNode } from "../support/Service.ts"
import { freshNumber } from "../support/sms.ts"

const sendTo = Effect.fnUntraced(function*(to: string, key: string) {
  const node = yield* Service
  return yield* node.request("POST", "/v1/verify/send", { key, json: { to } })
})

const older = (minutes: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`update verification_sends set created_at = created_at - ${minutes}::int * interval '1 minute'`
  )

layer(Service.layer({ env: { OTP_RESEND_SECONDS: "0" } }), { excludeTestServices: true })(
  "codes to one recipient from many accounts",
  (it) => {
    it.effect("a recipient gets ten codes an hour and forty a day, however many accounts send them", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const to = freshNumber()
        const senders = [yield* makeAccount(), yield* makeAccount()]
        const third = yield* makeAccount()
        for (let hour = 0; hour < 4; hour++) {
          for (const { key } of senders) {
            for (let count = 0; count < 5; count++) yield* sendCode(node, { key, json: { to } })
          }
          const answer = yield* sendTo(to, third.key)
          assertRefused(answer, 429, "otp_limit")
          assert.deepInclude(
            answer.at("error"),
            hour < 3 ? { reason: "all_accounts_hour", limit: 10 } : { reason: "all_accounts_day", limit: 40 }
          )
          assert.strictEqual(answer.headers["retry-after"], String(answer.at("error", "retry_after")))
          yield* older(61)
        }
        yield* older(24 * 60)
        yield* sendCode(node, { key: third.key, json: { to } })
      }))

    it.effect("of the codes that many accounts request at once, ten are sent", () =>
      Effect.gen(function*() {
        const to = freshNumber()
        const accounts = yield* Effect.all(Array.from({ length: 20 }, () => makeAccount()))
        const answers = yield* Effect.forEach(accounts, ({ key }) => sendTo(to, key), { concurrency: "unbounded" })
        const others = answers.filter(({ status }) => status !== 201)
        assert.lengthOf(others, 10)
        for (const answer of others) assertRefused(answer, 429, "otp_limit")
      }))

    it.effect("accounts in their trial cannot keep the codes of other accounts from a person", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const to = freshNumber()
        const trials = yield* Effect.all(Array.from({ length: 3 }, () => makeAccount({ trial: true })))
        const paying = yield* makeAccount()
        const [first, second, third] = trials.map(({ key }) => sendTo(to, key))
        for (let count = 0; count < 5; count++) yield* Effect.all([first ?? Effect.void, second ?? Effect.void])
        assertRefused(yield* third ?? sendTo(to, ""), 429, "otp_limit")
        for (let count = 0; count < 5; count++) yield* sendCode(node, { key: paying.key, json: { to } })
        // A trial's code is counted with all codes before it.
        yield* older(61)
        const other = yield* makeAccount()
        for (const { key } of [paying, other]) {
          for (let count = 0; count < 5; count++) yield* sendCode(node, { key, json: { to } })
        }
        assertRefused(yield* third ?? sendTo(to, ""), 429, "otp_limit")
      }))

    it.effect("codes of test keys count for no other account", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const to = freshNumber()
        for (let account = 0; account < 3; account++) {
          const { accountId } = yield* makeAccount({ trial: true })
          const { key } = yield* makeKey(accountId, { mode: "test" })
          for (let count = 0; count < 5; count++) yield* sendCode(node, { key, json: { to } })
        }
        const { key } = yield* makeAccount()
        yield* sendCode(node, { key, json: { to } })
      }))
  }
)

layer(Service.layer({ env: { TRIAL_CHANNELS: "email" } }), { excludeTestServices: true })(
  "channels of the trial",
  (it) => {
    it.effect("a trial account sends by the channels of TRIAL_CHANNELS only, codes and steps of a failover included", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const trial = yield* makeAccount({ trial: true })
        const paying = yield* makeAccount()
        const to = freshNumber()
        const sms = { to, content: "Hello" }
        const both = { to: { phone: to, email: "ada@example.com" } }
        const [text, note] = [{ channel: "sms", content: "Hello" }, { channel: "email", subject: "s", text: "t" }]
        const closed = [
          ["/v1/sms/send", sms],
          ["/v1/sms/send-bulk", { recipients: [to], content: "Hello" }],
          ["/v1/whatsapp/send", { session_id: 1, to, type: "text", content: { body: "Hello" } }],
          ["/v1/whatsapp/send-bulk", { session_id: 1, recipients: [to], type: "text", content: { body: "Hello" } }],
          ["/v1/verify/send", { to }],
          ["/v1/verify/send", { to, channel: "auto" }],
          ["/v1/messages", { ...both, steps: [text, note] }],
          ["/v1/messages", { ...both, steps: [note, text] }]
        ] as const
        for (const [path, json] of closed) {
          assertRefused(yield* node.request("POST", path, { key: trial.key, json }), 402, "subscription_required")
        }
        const mail = { to: "ada@example.com", subject: "s", text: "t" }
        const open = [
          yield* node.request("POST", "/v1/email/send", { key: trial.key, json: mail }),
          yield* node.request("POST", "/v1/verify/send", { key: trial.key, json: { to: mail.to, channel: "auto" } }),
          yield* node.request("POST", "/v1/messages", { key: trial.key, json: { ...both, steps: [note] } }),
          yield* node.request("POST", "/v1/messages", { key: paying.key, json: { ...both, steps: [text, note] } }),
          yield* node.request("POST", "/v1/sms/send", { key: paying.key, json: sms }),
          yield* node.request("POST", "/v1/verify/send", { key: paying.key, json: { to } })
        ]
        assert.deepStrictEqual(open.map(({ status }) => status), [202, 201, 202, 202, 202, 201])
      }))
  }
)

layer(Service.layer({ env: { TRIAL_CHANNELS: "sms" } }), { excludeTestServices: true })(
  "a trial without email",
  (it) => {
    it.effect("a trial without email sends neither mails nor codes by mail", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount({ trial: true })
        const closed = [
          ["/v1/email/send", { to: "ada@example.com", subject: "s", text: "t" }],
          ["/v1/email/send-bulk", { recipients: ["ada@example.com"], subject: "s", html: "t" }],
          ["/v1/verify/send", { to: "ada@example.com", channel: "email" }]
        ] as const
        for (const [path, json] of closed) {
          assertRefused(yield* node.request("POST", path, { key, json }), 402, "subscription_required")
        }
      }))
  }
)

const password = "correct horse battery"

const register = (node: RunningNode, email: string) =>
  Effect.tap(
    node.request("POST", "/v1/auth/register", { json: { name: "Ada", email, password } }),
    ({ status, text }) => Effect.sync(() => assert.strictEqual(status, 201, text))
  )

const headers = { accept: "application/json" }

/** The tokens that were mailed to an address, newest first, once there are so many. */
const tokensTo = (node: RunningNode, email: string, count: number) =>
  eventually(
    Effect.gen(function*() {
      const list = yield* node.request("GET", `/sandbox/mail?to=${email}`, { headers })
      const rows = Array.from<unknown>(Object(list.at("data")))
      const asking = rows.filter((row) => Reflect.get(Object(row), "subject") === "Confirm your email address")
      const mails = yield* Effect.forEach(
        asking,
        (row) => node.request("GET", `/sandbox/mail/${Reflect.get(Object(row), "id")}`, { headers })
      )
      return mails.map(({ at }) => /ct_live_[\w-]+/.exec(String(at("data", "text")))?.[0] ?? "")
    }),
    ({ length }) => length >= count
  )

const mail = { to: "friend@example.com", subject: "s", text: "t" }

layer(Service.layer(), { excludeTestServices: true })("confirmation of addresses", (it) => {
  const send = (node: RunningNode, key: string) => node.request("POST", "/v1/email/send", { key, json: mail })
  const confirm = (node: RunningNode, token: string) => node.request("POST", `/account/confirm/${token}`)

  it.effect("an account that registered sends nothing until its owner has agreed on the page that the mail links to", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const registered = yield* register(node, "ada@example.com")
      const login = String(registered.at("data", "token"))
      const made = yield* node.request("POST", "/v1/api-keys", { key: login, json: { name: "First" } })
      const key = String(made.at("data", "key"))
      const wanted = { name: "Test", mode: "test" }
      const test = yield* node.request("POST", "/v1/api-keys", { key: login, json: wanted })
      const testKey = String(test.at("data", "key"))
      for (const credential of [login, key, testKey]) {
        assertRefused(yield* send(node, credential), 403, "address_unconfirmed")
      }
      assert.strictEqual((yield* node.request("GET", "/v1/email/messages", { key })).status, 200)
      const [token = ""] = yield* tokensTo(node, "ada@example.com", 1)
      const page = yield* node.request("GET", `/account/confirm/${token}`)
      assert.strictEqual(page.status, 200)
      assert.match(page.text, /Did you register .*ada@example\.com.*<button>Confirm</s)
      assertRefused(yield* send(node, key), 403, "address_unconfirmed")
      for (let times = 0; times < 2; times++) assert.strictEqual((yield* confirm(node, token)).status, 200)
      for (const credential of [key, testKey]) assert.strictEqual((yield* send(node, credential)).status, 202)
      const entries = yield* sql`select actor from audit_entries where action = 'address.confirmed'`
      assert.deepStrictEqual(entries, [{ actor: "anonymous" }])
      assert.notInclude(node.logs.join("\n"), token)
    }))

  it.effect("a link is refused if it is forged, of a former address or three days old", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const registered = yield* register(node, "grace@example.com")
      const id = Number(registered.at("data", "account", "id"))
      const [token = ""] = yield* tokensTo(node, "grace@example.com", 1)
      const [form, owner, expires = "", mac] = /^ct_live_(\d+)-(\d{10})-(.+)$/.exec(token) ?? []
      assert.strictEqual(form, token)
      assert.closeTo(Number(expires) - Date.now() / 1000, 3 * 24 * 3600, 60)
      const forged = [
        "ct_live_none",
        `ct_live_9999999999999999-${expires}-${mac}`,
        `ct_live_${Number(owner) + 1}-${expires}-${mac}`,
        `ct_live_${owner}-${Number(expires) + 1}-${mac}`,
        `ct_live_${owner}-${expires}-${"A".repeat(32)}`,
        `ct_live_${owner}-${Math.floor(Date.now() / 1000)}-${mac}`
      ]
      for (const each of forged) assert.strictEqual((yield* confirm(node, each)).status, 410, each)
      yield* sql`update accounts set email = 'other@example.com' where id = ${id}`
      assert.strictEqual((yield* confirm(node, token)).status, 410)
      assert.strictEqual((yield* node.request("GET", `/account/confirm/${token}`)).status, 410)
      assertRefused(yield* send(node, String(registered.at("data", "token"))), 403, "address_unconfirmed")
    }))

  it.effect("an owner can request five mails an hour, and none once the address is confirmed", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const registered = yield* register(node, "joan@example.com")
      const key = String(registered.at("data", "token"))
      const ask = node.request("POST", "/v1/auth/confirmation", { key })
      const answers = yield* Effect.all(Array.from({ length: 10 }, () => ask), { concurrency: "unbounded" })
      const refused = answers.filter(({ status }) => status === 429)
      assert.lengthOf(refused, 6)
      for (const answer of refused) {
        assertRefused(answer, 429, "rate_limit_exceeded")
        assert.isAbove(Number(answer.headers["retry-after"]), 3_500)
        assert.match(
          String(answer.at("error", "message")),
          /^The limit of 5 requests per hour is reached\. Try again in 3/
        )
      }
      const tokens = yield* tokensTo(node, "joan@example.com", 5)
      assert.strictEqual((yield* confirm(node, tokens[4] ?? "")).status, 200)
      assert.strictEqual((yield* ask).status, 202)
      const [row] = yield* sql`select count(*)::integer as n from notices where account_id = ${
        Number(registered.at("data", "account", "id"))
      }`
      assert.strictEqual(row?.["n"], 5)
    }))

  it.effect("who registers the address of another person keeps no way in once that person sets a password by mail", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const email = "hedy@example.com"
      const registered = yield* register(node, email)
      const login = String(registered.at("data", "token"))
      const accountId = AccountId.make(Number(registered.at("data", "account", "id")))
      const keys = [(yield* makeKey(accountId)).key, (yield* makeKey(accountId, { mode: "test" })).key]
      const { cookie, personId } = yield* ownerOf(accountId)
      const addFactors = sql`with passkey as (insert into passkeys (person_id, credential_id, public_key, counter, name)
          values (${personId}, '\\x01', '\\x00', 0, 'Phone')),
        app as (insert into authenticators (person_id, seed, confirmed_at) values (${personId}, '\\x00', now()))
        insert into recovery_codes (person_id, code_hash) values (${personId}, '\\x00')`
      const factors = sql`select person_id from passkeys where person_id = ${personId}
        union all select person_id from authenticators where person_id = ${personId}
        union all select person_id from recovery_codes where person_id = ${personId}`
      yield* addFactors
      yield* node.request("PUT", "/v1/account/profile", { key: login, json: { email: "stranger@example.com" } })
      const link = /\/account\/email\/\S+/.exec(yield* mailTo("stranger@example.com", "Confirm your new"))?.[0] ?? ""

      const secret = "the owner's horse battery"
      /** Sets a password with a token from a mail. */
      const reset = Effect.gen(function*() {
        const token = Tokens.mint("rt_live_")
        yield* sql`insert into password_resets (token_hash, account_id, expires_at)
          values (${Tokens.hash(token)}, ${accountId}, now() + interval '1 hour')`
        const json = { token, password: secret, password_confirmation: secret }
        return yield* node.request("POST", "/v1/auth/password/reset", { json })
      })
      assert.strictEqual((yield* reset).status, 200)
      for (const key of [login, ...keys]) {
        assert.strictEqual((yield* node.request("GET", "/v1/account", { key })).status, 401)
      }
      assert.strictEqual((yield* node.request("GET", "/console/me", { headers: { cookie } })).status, 302)
      assert.strictEqual((yield* node.request("POST", link)).status, 410)
      const entered = yield* node.request("POST", "/v1/auth/login", { json: { email, password: secret } })
      assert.strictEqual(entered.status, 200)
      assert.strictEqual((yield* send(node, String(entered.at("data", "token")))).status, 202)
      assert.lengthOf(yield* factors, 0)
      assert.include(
        yield* mailTo(email, "Your password was reset"),
        "API keys and second factors from before were ended"
      )

      // What the owner adds stays.
      yield* addFactors
      const { key } = yield* makeKey(accountId)
      assert.strictEqual((yield* reset).status, 200)
      assert.lengthOf(yield* factors, 3)
      assert.strictEqual((yield* node.request("GET", "/v1/account", { key })).status, 200)
    }).pipe(Effect.orDie))

  it.effect("an address gets five mails an hour, however often it is registered and deleted", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const email = "maria@example.com"
      for (let round = 0; round < 5; round++) {
        const key = String((yield* register(node, email)).at("data", "token"))
        yield* tokensTo(node, email, round + 1)
        const removed = yield* node.request("DELETE", "/v1/account", { key, json: { confirmation: "DELETE" } })
        assert.strictEqual(removed.status, 200, removed.text)
      }
      const json = { name: "Ada", email: email.toUpperCase(), password }
      const refused = yield* node.request("POST", "/v1/auth/register", { json })
      assertRefused(refused, 429, "rate_limit_exceeded")
      assert.isAbove(Number(refused.headers["retry-after"]), 3_000)
      assert.deepStrictEqual(yield* sql`select from accounts where lower(email) = ${email}`, [])
      assert.lengthOf(yield* tokensTo(node, email, 5), 5)
      yield* sql`update confirmation_mails set sent_at[5] = sent_at[5] - interval '1 hour'`
      yield* register(node, email)
      yield* tokensTo(node, email, 6)
    }))

  it.effect("an account that the operator gives a plan may send", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const registered = yield* register(node, "mary@example.com")
      const id = AccountId.make(Number(registered.at("data", "account", "id")))
      yield* Effect.flatMap(Accounts, ({ setPlan }) => setPlan(id, "growth")).pipe(
        Effect.provide(Accounts.layer.pipe(Layer.provide(Audit.layer)))
      )
      assert.strictEqual((yield* send(node, String(registered.at("data", "token")))).status, 202)
    }))

  it.effect("REGISTRATION_CONFIRM=false and development let an account send at once, without a mail", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      for (const env of [{ REGISTRATION_CONFIRM: "false" }, { MODE: "development" }]) {
        const node = yield* startNode({ env })
        const registered = yield* register(node, `${Object.keys(env)}@example.com`)
        assert.strictEqual((yield* send(node, String(registered.at("data", "token")))).status, 202)
        const notices = yield* sql`select from notices where account_id = ${
          Number(registered.at("data", "account", "id"))
        }`
        assert.lengthOf(notices, 0)
        yield* node.stop()
      }
    }))
})
