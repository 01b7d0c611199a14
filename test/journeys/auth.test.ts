import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { hashOf } from "../../src/accounts/LoginGuesses.ts"
import { EmailAddress } from "../../src/values/EmailAddress.ts"
import { assertRefused, withoutMeta } from "../contract/contract.ts"
import { ownerOf } from "../support/consolePeople.ts"
import { mailTo } from "../support/sandboxMails.ts"
import { makeAccount, type RunningNode, Service, startNode } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

class SecondNode
  extends Context.Service<SecondNode, RunningNode>()("messaging-service/test/journeys/auth.test/SecondNode")
{
  static readonly layer = Layer.effect(SecondNode, startNode())
}

const password = "correct horse battery"

const register = (email: string, more: object = {}) =>
  Effect.flatMap(
    Service,
    ({ request }) => request("POST", "/v1/auth/register", { json: { name: "Ada", email, password, ...more } })
  )

const login = (json: object) => Effect.flatMap(Service, ({ request }) => request("POST", "/v1/auth/login", { json }))

layer(SecondNode.layer.pipe(Layer.provideMerge(Service.layer())))("accounts and login sessions", (it) => {
  it.effect("a person registers, uses the session like a key, logs out and logs in again", () =>
    Effect.gen(function*() {
      const { client } = yield* Service
      const anonymous = yield* client()
      const { data } = yield* anonymous.auth.register({
        payload: {
          name: "Ada Lovelace",
          email: EmailAddress.make("Ada@example.com"),
          password,
          timezone: "Europe/London",
          locale: "fr"
        }
      })
      assert.deepInclude(data.account, {
        name: "Ada Lovelace",
        plan: "starter",
        status: "trial",
        timezone: "Europe/London",
        locale: "fr"
      })
      assert.match(data.token, /^lt_live_[0-9A-Za-z]{38}$/)

      const ada = yield* client(data.token)
      const { data: made } = yield* ada.apiKeys.create({ payload: { name: "First" } })
      assert.deepStrictEqual((yield* ada.apiKeys.list()).data.map(({ id }) => id), [made.id])
      assert.strictEqual(
        (yield* Effect.flip(ada.webhooks.create({ payload: { url: "https://example.com/", events: ["*"] } })))._tag,
        "SubscriptionRequired"
      )

      assert.deepInclude(yield* ada.auth.logout(), { success: true, data: null })
      assert.strictEqual((yield* Effect.flip(ada.apiKeys.list()))._tag, "InvalidApiKey")

      const again = yield* anonymous.auth.login({ payload: { email: "ada@example.com", password } })
      assert.notStrictEqual(again.data.token, data.token)
      assert.deepStrictEqual((yield* (yield* client(again.data.token)).apiKeys.list()).data.map(({ id }) => id), [
        made.id
      ])
    }))

  it.effect("no answer sets a cookie, because no request is authenticated by one", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const made = yield* register("cookie@example.com")
      const entered = yield* login({ email: "cookie@example.com", password })
      const out = yield* request("POST", "/v1/auth/logout", { key: String(entered.at("data", "token")) })
      assert.deepStrictEqual([made.status, entered.status, out.status], [201, 200, 200])
      for (const { headers } of [made, entered, out]) assert.isUndefined(headers["set-cookie"])
    }))

  it.effect("logging out on one node ends that session on the other node and leaves other sessions alone", () =>
    Effect.gen(function*() {
      const [here, there] = [yield* Service, yield* SecondNode]
      yield* register("twice@example.com")
      const [one, two] = [
        yield* login({ email: "twice@example.com", password }),
        yield* login({ email: "twice@example.com", password })
      ]
      const [first, second] = [String(one.at("data", "token")), String(two.at("data", "token"))]
      assert.strictEqual((yield* there.request("GET", "/v1/api-keys", { key: first })).status, 200)
      yield* here.request("POST", "/v1/auth/logout", { key: first })
      assertRefused(yield* there.request("GET", "/v1/api-keys", { key: first }), 401, "invalid_api_key")
      assert.strictEqual((yield* there.request("GET", "/v1/api-keys", { key: second })).status, 200)
    }))

  it.effect("an expired session gets the same 401 as an unknown one", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const answer = yield* register("over@example.com")
      yield* sql`update login_sessions set expires_at = now()
        where account_id = ${Number(answer.at("data", "account", "id"))}`
      assertRefused(
        yield* request("GET", "/v1/api-keys", { key: String(answer.at("data", "token")) }),
        401,
        "invalid_api_key"
      )
    }))

  it.effect("a failed login does not reveal whether the account exists", () =>
    Effect.gen(function*() {
      yield* register("known@example.com")
      const answers = [
        yield* login({ email: "known@example.com", password: "wrong horse battery" }),
        yield* login({ email: "unknown@example.com", password }),
        yield* login({ email: "not an address", password }),
        yield* login({ email: "known@example.com' or '1'='1", password })
      ]
      for (const answer of answers) {
        assertRefused(answer, 401, "invalid_credentials")
        assert.deepStrictEqual(withoutMeta(answer), withoutMeta(answers[0] ?? answer))
        assert.isUndefined(answer.headers["set-cookie"])
        assert.isUndefined(answer.headers["www-authenticate"])
      }
    }))

  it.effect("from the fifth wrong password on, logins from one network pause, and each further one doubles the pause", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const email = "guessed@example.com"
      yield* register(email)
      const wrong = login({ email, password: "wrong horse battery" })
      for (let guess = 1; guess <= 5; guess++) assertRefused(yield* wrong, 401, "invalid_credentials")
      const paused = yield* login({ email: email.toUpperCase(), password })
      assertRefused(paused, 429, "login_paused")
      assert.strictEqual(paused.headers["retry-after"], String(paused.at("error", "retry_after")))
      assert.isAtMost(Number(paused.headers["retry-after"]), 15)
      yield* sql`update login_guesses set retry_at = now() where email_hash = ${hashOf(email)}`
      assertRefused(yield* wrong, 401, "invalid_credentials")
      assert.isAbove(Number((yield* wrong).headers["retry-after"]), 15)
      yield* sql`update login_guesses set client_network = '203.0.113.9' where email_hash = ${hashOf(email)}`
      assert.strictEqual((yield* login({ email, password })).status, 200)
    }))

  /** Sets another password with a token that is mailed. */
  const resets = Effect.fnUntraced(function*(email: string, secret: string) {
    const { request } = yield* Service
    yield* request("POST", "/v1/auth/password/forgot", { json: { email } })
    const mail = yield* mailTo(email, "Set a new password")
    const json = { token: /rt_live_\w{38}/.exec(mail)?.[0], password: secret, password_confirmation: secret }
    assert.strictEqual((yield* request("POST", "/v1/auth/password/reset", { json })).status, 200)
  })

  it.effect("a new password that was set with a mailed token ends the pause of logins", () =>
    Effect.gen(function*() {
      const email = "Paused@example.com"
      yield* register(email)
      for (let guess = 1; guess <= 5; guess++) yield* login({ email, password: "wrong horse battery" })
      assertRefused(yield* login({ email, password }), 429, "login_paused")
      assert.include(yield* mailTo(email, "Wrong passwords were entered"), "from the network 127.0.0.1")
      const secret = "another horse battery"
      yield* resets(email, secret)
      assert.strictEqual((yield* login({ email, password: secret })).status, 200)
    }))

  it.effect("five wrong codes of a second factor pause logins, and a new password does not end that pause", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { accountId, email } = yield* makeAccount({ password })
      const { personId } = yield* ownerOf(accountId)
      yield* sql`insert into passkeys (person_id, credential_id, public_key, counter, name)
        values (${personId}, ${new TextEncoder().encode(email)}, '\\x00', 0, 'Phone')`
      const code = "aaaaa-aaaaa"
      for (let guess = 1; guess <= 5; guess++) {
        assertRefused(yield* login({ email, password, code }), 401, "invalid_credentials")
      }
      const paused = yield* login({ email, password, code })
      assertRefused(paused, 429, "login_paused")
      assert.match(
        String(paused.at("error", "message")),
        /^Too many wrong passwords or codes were entered\. Try again in \d+ seconds?\.$/
      )
      yield* sql`update login_guesses set retry_at = now() + interval '10 minutes'
        where email_hash = ${hashOf(`code:${personId}`)}`
      const secret = "another horse battery"
      yield* resets(email, secret)
      assertRefused(yield* login({ email, password: secret, code }), 429, "login_paused")
    }))

  it.effect("an address with a letter that a database lowers to ASCII is not the account's", () =>
    Effect.gen(function*() {
      const email = "inside@example.com"
      yield* register(email)
      // Postgres lowers İ to i, and JavaScript to another text, whose wrong passwords would count apart.
      assertRefused(yield* login({ email: "\u0130nside@example.com", password }), 401, "invalid_credentials")
      assert.strictEqual((yield* login({ email: "INSIDE@example.com", password })).status, 200)
    }))

  it.effect("a login with the right password forgives the wrong ones", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const email = "forgetful@example.com"
      yield* register(email)
      for (let guess = 1; guess < 5; guess++) yield* login({ email, password: "wrong horse battery" })
      assert.strictEqual((yield* login({ email, password })).status, 200)
      assert.deepStrictEqual(yield* sql`select from login_guesses where email_hash = ${hashOf(email)}`, [])
    }))

  it.effect("an email address registers only once, in any letter case, even from two nodes at the same time", () =>
    Effect.gen(function*() {
      const nodes = [yield* Service, yield* SecondNode]
      const json = { name: "Ada", email: "race@example.com", password }
      const answers = yield* Effect.forEach(
        Array.from(
          { length: 10 },
          (_, i) => nodes[i % 2]?.request("POST", "/v1/auth/register", { json }) ?? Effect.die("no node")
        ),
        (answer) => answer,
        { concurrency: "unbounded" }
      )
      assert.strictEqual(answers.filter(({ status }) => status === 201).length, 1)
      for (const answer of answers.filter(({ status }) => status !== 201)) assertRefused(answer, 409, "email_taken")
      assertRefused(yield* register("RACE@example.com"), 409, "email_taken")
    }))

  it.effect("register names the field that is missing or invalid", () =>
    Effect.gen(function*() {
      const wrong = [
        [{ name: "" }, "name"],
        [{ name: "Ada\r\nBcc: eve@example.com" }, "name"],
        [{ password: "short" }, "password"],
        [{ password: "x".repeat(129) }, "password"],
        [{ password: "with a \0 in the middle" }, "password"],
        [{ email: "ada" }, "email"],
        [{ email: "ada@example.com, eve@example.com" }, "email"],
        [{ timezone: "Mars/Olympus" }, "timezone"],
        [{ locale: "tlh" }, "locale"]
      ] as const
      for (const [more, param] of wrong) {
        const answer = yield* register("lacking@example.com", more)
        assertRefused(answer, 422, "validation_error")
        assert.strictEqual(answer.at("error", "param"), param)
        assert.notInclude(answer.text, "with a")
      }
      const sentence = "Otters 7 juggle pebbles while lanterns drift over the quiet harbour, and every gull "
        + "on the crooked pier forgets what it came here to steal from us"
      for (const length of [12, 128]) {
        assert.strictEqual(
          (yield* register(`length${length}@example.com`, { password: sentence.slice(0, length) })).status,
          201
        )
      }
    }))

  it.effect("a caller of register cannot choose plan, trial or id", () =>
    Effect.gen(function*() {
      const answer = yield* register("greedy@example.com", {
        plan: "enterprise",
        trial: false,
        status: "active",
        id: 1,
        trial_ends_at: null
      })
      assert.deepInclude(Object(answer.at("data", "account")), { plan: "starter", status: "trial" })
      assert.isString(answer.at("data", "account", "trial_ends_at"))
    }))

  it.effect("no answer contains a password hash", () =>
    Effect.gen(function*() {
      const made = yield* register("secret@example.com")
      const entered = yield* login({ email: "secret@example.com", password })
      for (const answer of [made, entered]) assert.notMatch(answer.text, /argon2|password|hash/)
    }))
})

layer(TestDatabase.layer)("closed registration", (it) => {
  it.effect("register returns 403, and existing accounts can still log in", () =>
    Effect.gen(function*() {
      const { email } = yield* makeAccount({ password })
      for (const REGISTRATION of ["closed", undefined]) {
        const { request } = yield* startNode({ env: { REGISTRATION } })
        const refused = yield* request("POST", "/v1/auth/register", {
          json: { name: "Eve", email: "eve@example.com", password }
        })
        assertRefused(refused, 403, "registration_closed")
        const entered = yield* request("POST", "/v1/auth/login", { json: { email, password } })
        assert.strictEqual(entered.status, 200)
      }
    }))
})
