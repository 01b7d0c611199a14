import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { Vault } from "../../src/platform/crypto/Vault.ts"
import { assertRefused } from "../contract/contract.ts"
import { ownerOf } from "../support/consolePeople.ts"
import { mailsTo, mailTo } from "../support/sandboxMails.ts"
import { encryptionKey, eventually, makeAccount, Service, startNode } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const password = "correct horse battery"

const subjects = {
  confirm: "Confirm your new email address",
  changed: "The email address of your account was changed",
  restored: "The email address of your account was restored"
} as const

/** The path of a link in a mail. */
const linkIn = (mail: string) => /\/account\/email\/e[cu]_live_[0-9A-Za-z]{38}/.exec(mail)?.[0] ?? "no link"

const freshAddress = () => `${randomBytes(8).toString("hex")}@new.example`

const login = (email: string, secret = password) =>
  Effect.flatMap(
    Service,
    ({ request }) => request("POST", "/v1/auth/login", { json: { email, password: secret } })
  )

/** An account with ways to change its address. */
const owner = Effect.gen(function*() {
  const { request } = yield* Service
  const account = yield* makeAccount({ password })
  const { key } = account
  const put = (email: string) => request("PUT", "/v1/account/profile", { key, json: { email } })
  const current = Effect.map(request("GET", "/v1/account", { key }), ({ at }) => [
    at("data", "email"),
    at("data", "pending_email")
  ])
  /** Asks for an address, and returns the path of the link that confirms it. */
  const ask = (email: string, count = 1) =>
    Effect.andThen(put(email), Effect.map(mailTo(email, subjects.confirm, count), linkIn))
  /** Changes the address, and returns the path of the link that undoes it. */
  const move = Effect.fnUntraced(function*(from: string, to: string) {
    const link = yield* ask(to)
    assert.strictEqual((yield* request("POST", link)).status, 200)
    return linkIn(yield* mailTo(from, subjects.changed))
  })
  return { ...account, put, current, ask, move }
})

/** A password token from the newest of `count` mails. */
const resetToken = (email: string, count = 1) =>
  Effect.map(mailTo(email, "Set a new password", count), (mail) => /rt_live_[0-9A-Za-z]{38}/.exec(mail)?.[0] ?? "none")

const reset = (token: string, secret: string) =>
  Effect.flatMap(Service, ({ request }) =>
    request("POST", "/v1/auth/password/reset", {
      json: { token, password: secret, password_confirmation: secret }
    }))

const forgot = (email: string) =>
  Effect.flatMap(Service, ({ request }) => request("POST", "/v1/auth/password/forgot", { json: { email } }))

const register = (email: string) =>
  Effect.flatMap(
    Service,
    ({ request }) => request("POST", "/v1/auth/register", { json: { name: "Eve", email, password } })
  )

layer(Service.layer(), { excludeTestServices: true })("email address of an account", (it) => {
  it.effect("a new address counts once it is confirmed by a POST from the link mailed there", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, current, email, keyId, put } = yield* owner
      const next = freshAddress()
      yield* forgot(email)
      const token = yield* resetToken(email)
      const asked = yield* put(next)
      assert.deepInclude(Object(asked.at("data")), { email, pending_email: next })
      const mail = yield* mailTo(next, subjects.confirm)
      assert.notInclude(mail, "Hello Test")
      const link = linkIn(mail)
      const pages = [yield* request("GET", link), yield* request("HEAD", link), yield* request("GET", link)]
      assert.deepStrictEqual(pages.map(({ status }) => status), [200, 200, 200])
      assert.include(pages[0]?.text, next)
      assert.include(pages[0]?.text, "<form method=\"post\">")
      assert.deepStrictEqual(yield* current, [email, next])
      assert.strictEqual((yield* login(email)).status, 200)
      assertRefused(yield* login(next), 401, "invalid_credentials")

      const session = String((yield* login(email)).at("data", "token"))
      const confirmed = yield* request("POST", link)
      assert.strictEqual(confirmed.status, 200)
      assert.include(confirmed.text, next)
      assert.deepStrictEqual(yield* current, [next, null])
      assertRefused(yield* login(email), 401, "invalid_credentials")
      assert.strictEqual((yield* login(next)).status, 200)
      assert.strictEqual((yield* request("GET", "/v1/account", { key: session })).status, 200)
      assertRefused(yield* reset(token, "another horse battery"), 410, "token_expired")
      yield* mailTo(email, subjects.changed)
      const entries = yield* sql`select actor, action from audit_entries
        where account_id = ${accountId} and action like 'email.%' order by id`
      assert.deepStrictEqual(entries.map(({ action, actor }) => `${actor} ${action}`), [
        `key ${keyId} email.requested`,
        "anonymous email.changed"
      ])
    }))

  it.effect("a confirmation link works once, within 24 hours, and only until another address or the old one is put", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, ask, current, email, put } = yield* owner
      const [first, second, third] = [freshAddress(), freshAddress(), freshAddress()]
      const replaced = yield* ask(first)
      const withdrawn = yield* ask(second)
      assert.deepStrictEqual(yield* current, [email, second])
      assert.strictEqual((yield* put(email)).at("data", "pending_email"), null)
      const expired = yield* ask(third)
      const times = yield* sql`select expires_at - requested_at = interval '24 hours' as is_day from email_changes
        where account_id = ${accountId} and new_email = ${third}`
      assert.deepStrictEqual(times.map(({ is_day }) => is_day), [true])
      yield* sql`update email_changes set expires_at = now() where account_id = ${accountId} and new_email = ${third}`
      assert.deepStrictEqual(yield* current, [email, null])
      const used = yield* ask(third, 2)
      assert.strictEqual((yield* request("POST", used)).status, 200)
      const other = `${used.slice(0, -1)}${used.endsWith("x") ? "y" : "x"}`
      const unknown = "/account/email/ec_live_000000000000000000000000000000000aaaaa"
      for (const link of [replaced, withdrawn, expired, used, other, unknown, "/account/email/x"]) {
        for (const method of ["GET", "POST"]) {
          const page = yield* request(method, link)
          assert.strictEqual(page.status, 410, link)
          assert.match(page.headers["content-type"] ?? "", /^text\/html/)
        }
      }
      assert.deepStrictEqual(yield* current, [third, null])
    }))

  it.effect("an address of another account is refused with 409 when it is asked for and when it is confirmed", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { ask, current, email, put } = yield* owner
      const neighbour = yield* makeAccount()
      assertRefused(yield* put(neighbour.email.replace(/^./, (sign) => sign.toUpperCase())), 409, "email_taken")
      const next = freshAddress()
      const link = yield* ask(next)
      assert.strictEqual((yield* register(next)).status, 201)
      const page = yield* request("POST", link)
      assert.strictEqual(page.status, 409)
      assert.include(page.text, "is taken")
      assert.deepStrictEqual(yield* current, [email, next])
    }))

  it.effect("of two accounts that confirm one address at the same time, one gets it", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const next = freshAddress()
      const [one, two] = [yield* owner, yield* owner]
      const links = [yield* one.ask(next), yield* two.ask(next, 2)]
      const pages = yield* Effect.forEach(links, (link) => request("POST", link), { concurrency: "unbounded" })
      assert.deepStrictEqual(pages.map(({ status }) => status).toSorted(), [200, 409])
    }))

  it.effect("the previous address can undo the change within 7 days, which ends logins, password and resets", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { current, email, move } = yield* owner
      const thief = freshAddress()
      const link = yield* move(email, thief)
      const [before, after] = ["another horse battery", "the owner's horse battery"]
      yield* forgot(thief)
      assert.strictEqual((yield* reset(yield* resetToken(thief), before)).status, 200)
      const session = String((yield* login(thief, before)).at("data", "token"))
      yield* forgot(thief)
      const pending = yield* resetToken(thief, 2)

      const page = yield* request("GET", link)
      assert.strictEqual(page.status, 200)
      assert.include(page.text, email)
      assert.deepStrictEqual(yield* current, [thief, null])
      assert.strictEqual((yield* request("POST", link)).status, 200)
      assert.deepStrictEqual(yield* current, [email, null])
      assertRefused(yield* request("GET", "/v1/account", { key: session }), 401, "invalid_api_key")
      for (const address of [email, thief]) {
        for (const secret of [before, password]) {
          assertRefused(yield* login(address, secret), 401, "invalid_credentials")
        }
      }
      assertRefused(yield* reset(pending, before), 410, "token_expired")
      yield* mailTo(thief, subjects.restored)
      assert.strictEqual((yield* reset(yield* resetToken(email), after)).status, 200)
      assert.strictEqual((yield* login(email, after)).status, 200)
      for (const method of ["GET", "POST"]) assert.strictEqual((yield* request(method, link)).status, 410)
    }))

  it.effect("an undo removes the second factors that a thief may have added", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, email, move } = yield* owner
      const link = yield* move(email, freshAddress())
      const { personId } = yield* ownerOf(accountId)
      yield* sql`with passkey as (insert into passkeys (person_id, credential_id, public_key, counter, name)
          values (${personId}, ${randomBytes(16)}, '\\x00', 0, 'Phone')),
        app as (insert into authenticators (person_id, seed, confirmed_at) values (${personId}, '\\x00', now()))
        insert into recovery_codes (person_id, code_hash) values (${personId}, '\\x00')`
      assert.strictEqual((yield* request("POST", link)).status, 200)
      const left = yield* sql`select person_id from passkeys where person_id = ${personId}
        union all select person_id from authenticators where person_id = ${personId}
        union all select person_id from recovery_codes where person_id = ${personId}`
      assert.deepStrictEqual(left, [])
      const secret = "the owner's horse battery"
      assert.strictEqual((yield* reset(yield* resetToken(email), secret)).status, 200)
      assert.strictEqual((yield* login(email, secret)).status, 200)
    }))

  it.effect("an undo is refused after 7 days", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, current, email, move } = yield* owner
      const next = freshAddress()
      const link = yield* move(email, next)
      const rows = yield* sql`select expires_at - confirmed_at = interval '7 days' as is_week from email_changes
        where account_id = ${accountId}`
      assert.deepStrictEqual(rows.map(({ is_week }) => is_week), [true])
      yield* sql`update email_changes set expires_at = now() where account_id = ${accountId}`
      assert.strictEqual((yield* request("POST", link)).status, 410)
      assert.deepStrictEqual(yield* current, [next, null])
    }))

  it.effect("the first undo reaches back over later changes, and ends their links", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { ask, current, email, move } = yield* owner
      const [second, third, fourth] = [freshAddress(), freshAddress(), freshAddress()]
      const first = yield* move(email, second)
      const later = yield* move(second, third)
      const pending = yield* ask(fourth)
      assert.strictEqual((yield* request("POST", first)).status, 200)
      assert.deepStrictEqual(yield* current, [email, null])
      for (const link of [later, pending]) assert.strictEqual((yield* request("POST", link)).status, 410)
      assert.deepStrictEqual(yield* current, [email, null])
    }))

  it.effect("no other account gets the previous address while the change can be undone, unless the account is deleted", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const [one, two] = [yield* owner, yield* owner]
      yield* one.move(one.email, freshAddress())
      assertRefused(yield* register(one.email.toUpperCase()), 409, "email_taken")
      assertRefused(yield* two.put(one.email), 409, "email_taken")
      assert.strictEqual((yield* one.put(one.email)).status, 200)
      yield* sql`update email_changes set expires_at = now() where account_id = ${one.accountId}`
      assert.strictEqual((yield* register(one.email)).status, 201)

      yield* two.move(two.email, freshAddress())
      yield* request("DELETE", "/v1/account", { key: two.key, json: { confirmation: "DELETE" } })
      assert.strictEqual((yield* register(two.email)).status, 201)
    }))

  it.effect("an account sends at most five confirmations an hour", () =>
    Effect.gen(function*() {
      const { put } = yield* owner
      const address = freshAddress()
      for (let count = 0; count < 5; count++) assert.strictEqual((yield* put(address)).status, 200)
      const refused = yield* put(freshAddress())
      assertRefused(refused, 429, "email_change_limit")
      assert.strictEqual(refused.headers["retry-after"], String(refused.at("error", "retry_after")))
      assert.isAbove(Number(refused.headers["retry-after"]), 3_500)
      yield* mailTo(address, subjects.confirm, 5)
      assert.strictEqual((yield* mailsTo(address)).length, 5)
    }))

  it.effect("an account learns of at most five addresses an hour whether another account has them", () =>
    Effect.gen(function*() {
      const neighbour = yield* makeAccount()
      const [prober, sender] = [yield* owner, yield* owner]
      for (let count = 0; count < 5; count++) {
        assertRefused(yield* prober.put(neighbour.email), 409, "email_taken")
        assert.strictEqual((yield* sender.put(freshAddress())).status, 200)
      }
      for (const { email, put } of [prober, sender]) {
        assertRefused(yield* put(neighbour.email), 429, "email_change_limit")
        assertRefused(yield* put(freshAddress()), 429, "email_change_limit")
        assert.strictEqual((yield* put(email)).status, 200)
      }
      assert.deepStrictEqual(yield* prober.current, [prober.email, null])
    }))
})

/** The texts of the account's notices, as the main key opens them. */
const opened = Effect.fnUntraced(function*(accountId: number) {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const rows = yield* sql`select id, kind, sealed_body from notices where account_id = ${accountId} order by id`
  return yield* Effect.forEach(rows, ({ id, kind, sealed_body: sealed }) =>
    sealed instanceof Uint8Array
      ? Effect.map(vault.open(`notices:${String(id)}:body`, sealed), (plain) => ({
        kind,
        text: Buffer.from(plain).toString("utf8")
      }))
      : Effect.succeed({ kind, text: "" }))
})

const Waiting = Layer.effect(Service, startNode({ env: { PAUSED: "true" } })).pipe(
  Layer.provideMerge(TestDatabase.layer),
  Layer.provideMerge(Vault.layer(Redacted.make(Buffer.from(encryptionKey, "base64"))))
)

layer(Waiting, { excludeTestServices: true })("tokens of waiting mails", (it) => {
  it.effect("a copy of the database has no token of a waiting mail that the main key has not opened", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, email, key } = yield* makeAccount({ password })
      const next = freshAddress()
      const found = Effect.gen(function*() {
        const tables = yield* sql`select table_name as name from information_schema.tables
          where table_schema = 'public' and table_type = 'BASE TABLE'`
        const hex = Buffer.from("_live_").toString("hex")
        return yield* Effect.filter(tables.map(({ name }) => String(name)), (name) =>
          Effect.map(
            sql.unsafe(`select from "${name}" r where r::text ~ '[cer][cut]_live_' or r::text like '%${hex}%' limit 1`),
            (rows) => rows.length > 0
          ))
      })
      yield* request("PUT", "/v1/account/profile", { key, json: { email: next } })
      const [confirmation] = yield* opened(accountId)
      assert.strictEqual(confirmation?.kind, "email_change_requested")
      assert.strictEqual((yield* request("POST", linkIn(confirmation?.text ?? ""))).status, 200)
      yield* forgot(next)
      const waiting = yield* eventually(opened(accountId), (notices) => notices.length === 3)
      assert.deepStrictEqual(
        waiting.map(({ kind, text }) => [kind, /(rt|ec|eu)_live_[0-9A-Za-z]{38}/.exec(text)?.[1]]),
        [["email_change_requested", "ec"], ["email_changed", "eu"], ["password_reset", "rt"]]
      )
      const registered = Number((yield* register(freshAddress())).at("data", "account", "id"))
      assert.match((yield* opened(registered))[0]?.text ?? "", /\bct_live_/)
      assert.deepStrictEqual(yield* found, [])
      assert.strictEqual((yield* request("POST", linkIn(waiting[1]?.text ?? ""))).status, 200)
      assert.strictEqual((yield* request("GET", "/v1/account", { key })).at("data", "email"), email)
    }))
})
