/** Second factors, the list of sign-ins, and fresh proofs, in a real browser with a virtual authenticator. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Secret, TOTP } from "otpauth"
import * as Tokens from "../../src/platform/crypto/Tokens.ts"
import { assertAccessible } from "../support/axe.ts"
import { type BrowserPage, chromium, openPage } from "../support/Chromium.ts"
import { ownerOf } from "../support/consolePeople.ts"
import { shows, titled, type } from "../support/look.ts"
import { placesOf } from "../support/placesOf.ts"
import { formsOf, type PlainForm } from "../support/plainForms.ts"
import { mailsTo, mailTo } from "../support/sandboxMails.ts"
import {
  eventually,
  makeAccount,
  makeKey,
  type RunningNode,
  sandboxToken,
  Service,
  startNode
} from "../support/Service.ts"

const password = "correct horse battery staple"

const addressOf = ({ baseUrl }: RunningNode, path: string) =>
  `${baseUrl.replace("127.0.0.1", "localhost")}/console${path}`

const signIn = Effect.fnUntraced(function*(page: BrowserPage, node: RunningNode, email: string) {
  yield* page.open(addressOf(node, "/sign-in"))
  yield* type(page, "email", email)
  yield* type(page, "password", password)
  yield* page.click("main form button.main")
})

const app = "section[aria-labelledby=app]"

const setsUpApp = Effect.fnUntraced(function*(page: BrowserPage) {
  yield* page.click(`${app} form button`)
  yield* page.until(`document.querySelector("${app} .copyable code") !== null`)
  yield* assertAccessible(page)
  const secret = String(yield* page.evaluate(`document.querySelector("${app} .copyable code").textContent`))
  const seed = Secret.fromBase32(secret)
  const totp = new TOTP({ secret: seed })
  assert.deepStrictEqual([yield* placesOf(secret), yield* placesOf(seed.bytes)], [[], []])
  yield* type(page, "code", "000000")
  yield* page.click(`${app} form button`)
  yield* page.until(shows("This is not the code that the app shows now."))
  const code = totp.generate()
  yield* type(page, "code", code)
  yield* page.click(`${app} form button`)
  yield* page.until(titled("Your recovery codes"))
  yield* assertAccessible(page)
  const codes = yield* page.evaluate(
    `[...document.querySelectorAll(".codes code")].map((one) => one.textContent).join()`
  )
  return { code, codes: String(codes).split(",") }
})

/** A form survives the proof by a passkey, and a dialog says what keeps it from opening. */
const keepsFormAndWay = Effect.fnUntraced(function*(page: BrowserPage, node: RunningNode, accountId: number) {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.orDie(sql`update login_sessions set proved_at = now() - interval '1 hour'`)
  // The page that has a button for passkeys does not lead to itself.
  yield* page.open(addressOf(node, "/confirm"))
  yield* page.until(`document.querySelector("form[data-passkey=get] button") !== null`)
  assert.isTrue(yield* page.evaluate(`document.querySelector("a[data-proof]") === null`))
  yield* page.open(addressOf(node, `/${accountId}/keys/new`))
  yield* type(page, "name", "Shop")
  yield* page.click("a[data-proof]")
  yield* page.until(titled("Your new API key"))
  yield* page.open(addressOf(node, `/${accountId}/keys`))
  const opens = "a[data-dialog][aria-label$=Shop]"
  const network = (offline: boolean) =>
    page.command("Network.emulateNetworkConditions", {
      offline,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: -1
    })
  yield* page.command("Network.enable")
  yield* network(true)
  yield* page.click(opens)
  yield* page.until(`document.querySelector("dialog[open] h2")?.textContent.startsWith("The service does not answer")`)
  yield* assertAccessible(page)
  yield* network(false)
  yield* page.click("dialog button")
  yield* Effect.orDie(sql`update login_sessions set expires_at = now() where person_id is not null`)
  yield* page.click(opens)
  yield* page.until(titled("Sign in"))
  yield* page.click("form[data-passkey=get] button")
  yield* page.until(titled("Revoke Shop?"))
})

layer(Service.layer(), { excludeTestServices: true })("second factors in a browser", (it) => {
  it.effect.skipIf(chromium === undefined)(
    "a person adds a passkey and an app, signs in with each of them, and ends other sign-ins",
    () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { accountId, email } = yield* makeAccount({ password })
        const page = yield* openPage
        const login = (code?: string) =>
          node.request("POST", "/v1/auth/login", { json: { email, password, ...(code !== undefined && { code }) } })
        assert.strictEqual((yield* login()).status, 200)

        yield* signIn(page, node, email)
        yield* page.until(titled("Overview"))
        yield* page.open(addressOf(node, "/me/security"))
        yield* assertAccessible(page)
        const { code, codes } = yield* setsUpApp(page)
        assert.strictEqual(codes.length, 10)

        // The code of the app was used. The API asks for one, and takes each recovery code once.
        const refused = yield* login()
        assert.deepStrictEqual([refused.status, refused.at("error", "type")], [401, "second_factor_required"])
        assert.strictEqual((yield* login(code)).status, 401)
        assert.strictEqual((yield* login(codes[0])).status, 200)
        assert.strictEqual((yield* login(codes[0])).status, 401)

        yield* page.command("WebAuthn.enable")
        yield* page.command("WebAuthn.addVirtualAuthenticator", {
          options: {
            protocol: "ctap2",
            transport: "internal",
            hasResidentKey: true,
            hasUserVerification: true,
            isUserVerified: true,
            automaticPresenceSimulation: true
          }
        })
        yield* page.open(addressOf(node, "/me/security"))
        yield* page.click("form[data-passkey=create] button")
        yield* page.until(shows("The passkey was added."))
        yield* mailTo(email, "Your account has a new way to sign in", 2)
        yield* assertAccessible(page)

        yield* page.open(addressOf(node, "/sign-out"))
        yield* page.click("main form button.main")
        yield* page.until(titled("Sign in"))
        yield* page.click("form[data-passkey=get] button")
        yield* page.until(titled("Overview"))
        yield* keepsFormAndWay(page, node, accountId)

        const other = yield* openPage
        yield* signIn(other, node, email)
        yield* other.until(titled("Enter your code"))
        yield* assertAccessible(other)
        yield* type(other, "code", codes[1] ?? "")
        yield* other.click("main form button.main")
        yield* other.until(titled("Overview"))
        yield* page.open(addressOf(node, "/me/security"))
        yield* page.click("section[aria-labelledby=sign-ins] > .buttons a")
        yield* page.click("dialog form button.danger")
        yield* page.until(shows("All other sign-ins were ended."))
        yield* other.open(addressOf(node, "/me"))
        yield* other.until(titled("Sign in"))
      })
  )

  it.effect("the API lists the owner as a member, and ends the owner's sign-ins", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { accountId, email, key } = yield* makeAccount({ password })
      const members = yield* request("GET", "/v1/account/members", { key })
      assert.deepStrictEqual([members.at("data", 0, "email"), members.at("data", 0, "role")], [email, "owner"])
      const { cookie } = yield* ownerOf(accountId)
      const page = request("GET", `/console/${accountId}/keys`, { headers: { cookie } })
      assert.strictEqual((yield* page).status, 200)
      const listed = yield* request("GET", "/v1/account/sign-ins", { key })
      assert.strictEqual(listed.at("data", 1), undefined)
      const id = listed.at("data", 0, "id")
      // An idle one has ended.
      const sql = yield* SqlClient.SqlClient
      const idle = yield* ownerOf(accountId)
      yield* sql`update login_sessions set created_at = now() - interval '15 days' where id > ${Number(id)}`
      const own = (yield* request("GET", "/v1/account/sign-ins", { key })).at("data") as ReadonlyArray<unknown>
      assert.deepStrictEqual(own, [listed.at("data", 0)])
      assert.strictEqual((yield* request("GET", "/console/me", { headers: { cookie: idle.cookie } })).status, 302)
      assert.strictEqual((yield* request("DELETE", `/v1/account/sign-ins/${id}`, { key })).status, 200)
      assert.strictEqual((yield* page).status, 302)
      assert.strictEqual((yield* request("DELETE", `/v1/account/sign-ins/${id}`, { key })).status, 404)
    }))

  it.effect("a sign-in ends after 14 days without use, and an operator's after 12 hours", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { cookie, personId } = yield* ownerOf((yield* makeAccount()).accountId)
      const opens = (idle: string) =>
        Effect.andThen(
          sql`update login_sessions set created_at = now() - ${idle}::interval, last_used_at = null
            where person_id = ${personId}`,
          Effect.map(request("GET", "/console/me", { headers: { cookie } }), ({ status }) => status)
        )
      assert.deepStrictEqual([yield* opens("13 days"), yield* opens("15 days")], [200, 302])
      yield* sql`update people set is_operator = true where id = ${personId}`
      assert.deepStrictEqual([yield* opens("11 hours"), yield* opens("13 hours")], [200, 302])
    }))

  it.effect("a proof of identity is fresh for ten minutes", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount({ password })
      const { cookie, personId } = yield* ownerOf(accountId)
      const asks = (age: string) =>
        Effect.andThen(
          sql`update login_sessions set proved_at = now() - ${age}::interval where person_id = ${personId}`,
          Effect.map(
            request("GET", `/console/${accountId}/keys/new`, { headers: { cookie } }),
            ({ text }) => text.includes("Confirm that it is you")
          )
        )
      assert.deepStrictEqual([yield* asks("9 minutes"), yield* asks("11 minutes")], [false, true])
    }))

  it.effect("a form that needs a fresh proof asks for the password once the proof is old, and keeps what was typed", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount({ password })
      const { cookie, personId } = yield* ownerOf(accountId)
      yield* Effect.orDie(
        sql`update login_sessions set proved_at = now() - interval '1 hour' where person_id = ${personId}`
      )
      const path = `/console/${accountId}/keys/new`
      const shown = yield* request("GET", path, { headers: { cookie } })
      assert.include(shown.text, "Confirm that it is you")
      const hidden = (name: string) =>
        new RegExp(`name="${name}" value="([^"]*)"`).exec(shown.text.slice(shown.text.indexOf("<main")))?.[1] ?? ""
      let token = cookie
      const send = (given: string, changes: Readonly<Record<string, string>> = {}) =>
        request("POST", path, {
          headers: {
            cookie: token,
            "content-type": "application/x-www-form-urlencoded",
            "sec-fetch-site": "same-origin"
          },
          body: String(
            new URLSearchParams({
              _action: "create",
              _token: hidden("_token"),
              _once: hidden("_once"),
              name: "Shop",
              preset: "email",
              expires_at: "30",
              drawn_at: hidden("drawn_at"),
              _password: given,
              ...changes
            })
          )
        })
      const refused = yield* send("not the password")
      assert.strictEqual(refused.status, 422)
      assert.notInclude(refused.text, "<code>_password</code>")
      assert.include(refused.text, "value=\"Shop\"")
      assert.include(refused.text, "value=\"email\" checked")
      // The proof renews the token of the browser, also where another field is wrong.
      const nameless = yield* send(password, { name: "", _once: "another" })
      assert.strictEqual(nameless.status, 422)
      const [renewed] = /^console=lt_live_\w{38}(?=; )/.exec(nameless.headers["set-cookie"] ?? "") ?? []
      assert.isDefined(renewed)
      // The token before it works for another minute, and proves nothing.
      assert.include((yield* request("GET", path, { headers: { cookie } })).text, "Confirm that it is you")
      token = String(renewed)
      const made = yield* send(password)
      assert.strictEqual(made.status, 200)
      assert.match(made.text, /sk_live_\w{38}/)
      // A reload of the answer sends the form again.
      const again = yield* send(password)
      assert.include(again.text, "This key was shown already.")
      assert.notMatch(again.text, /sk_live_\w{38}/)
    }))

  /** A person with a passkey, and their page of security. */
  const withPasskey = Effect.gen(function*() {
    const { request } = yield* Service
    const sql = yield* SqlClient.SqlClient
    const { accountId, email } = yield* makeAccount({ password })
    const { cookie, personId } = yield* ownerOf(accountId)
    const [made] = yield* sql`insert into passkeys (person_id, credential_id, public_key, counter, name)
      values (${personId}, ${new TextEncoder().encode(`credential of ${personId}`)}, '\\x00', 0, 'Phone') returning id`
    const open = (path: string) => Effect.map(request("GET", path, { headers: { cookie } }), ({ text }) => text)
    /** Sends a form of a page, with its hidden fields. */
    const sends = (path: string, action: string, changes: Readonly<Record<string, string>> = {}) =>
      Effect.map(open(path), (text) => {
        const form = text.slice(text.indexOf("<main")).split("<form").find((one) =>
          one.includes(`value="${action}"`)
        ) ?? ""
        const fields = [...form.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)]
        const hidden = Object.fromEntries(fields.map(([, name = "", value = ""]) => [name, value]))
        return request("POST", path, {
          headers: { cookie, "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" },
          body: String(new URLSearchParams({ ...hidden, ...changes }))
        })
      })
    return { accountId, email, personId, passkeyId: Number(made?.["id"]), open, sends, sql }
  }).pipe(Effect.orDie)

  it.effect("a separate page asks, with a fresh proof, before a passkey is removed", () =>
    Effect.gen(function*() {
      const { open, passkeyId, personId, sends, sql } = yield* withPasskey
      const path = `/console/me/security/passkeys/${passkeyId}/remove`
      assert.include(yield* open("/console/me/security"), `href="${path}"`)
      assert.include(yield* open(path), "This is your last second factor.")
      const count = Effect.map(
        sql`select id from passkeys where person_id = ${personId}`,
        ({ length }) => length
      )
      // The proof was fresh when the page was drawn, and is not any more: the page asks for another one.
      const form = yield* sends(path, "remove")
      yield* sql`update login_sessions set proved_at = now() - interval '1 hour' where person_id = ${personId}`
      const late = yield* form
      assert.strictEqual(late.status, 422)
      assert.include(late.text, "This needs a proof that is at most ten minutes old.")
      assert.include(late.text, "name=\"_password\"")
      assert.strictEqual(yield* count, 1)
      yield* sql`update login_sessions set proved_at = now() where person_id = ${personId}`
      assert.strictEqual((yield* yield* sends(path, "remove")).headers["location"], "/console/me/security")
      assert.strictEqual(yield* count, 0)
    }))

  it.effect("the proof by a passkey leads back to the page with what its address asks for", () =>
    Effect.gen(function*() {
      const { port, request } = yield* Service
      const { accountId, personId, sql } = yield* withPasskey
      const { cookie } = yield* ownerOf(accountId)
      yield* sql`update login_sessions set proved_at = now() - interval '1 hour' where person_id = ${personId}`
      const path = `/console/${accountId}/keys/new?mode=test`
      // Passkeys belong to a name.
      const { text } = yield* request("GET", path, { headers: { cookie, host: `localhost:${port}` } })
      assert.include(text, `<a data-proof href="/console/confirm?next=${encodeURIComponent(path)}"`)
    }).pipe(Effect.orDie))

  it.effect("a person gives a passkey another name, and not those of others", () =>
    Effect.gen(function*() {
      const { open, passkeyId, sends } = yield* withPasskey
      const other = yield* withPasskey
      const path = `/console/me/security/passkeys/${passkeyId}/rename`
      assert.include(yield* open("/console/me/security"), `href="${path}"`)
      const empty = yield* yield* sends(path, "rename", { name: "" })
      assert.strictEqual(empty.status, 422)
      assert.include(empty.text, "aria-invalid")
      yield* yield* other.sends(`/console/me/security/passkeys/${other.passkeyId}/rename`, "rename", { name: "Theirs" })
      const named = yield* yield* sends(path, "rename", { name: "Laptop <1>" })
      assert.strictEqual(named.headers["location"], "/console/me/security")
      assert.include(yield* open("/console/me/security"), "Laptop &lt;1&gt;")
      assert.include(yield* other.open("/console/me/security"), "Theirs")
      assert.notInclude(yield* other.open(path), "Laptop")
    }))

  it.effect("what a person changes of how they sign in is in the audit log, and a new way in is mailed to them", () =>
    Effect.gen(function*() {
      const { accountId, email, open, passkeyId, personId, sends, sql } = yield* withPasskey
      const page = "/console/me/security"
      const { request } = yield* Service
      const { key } = yield* makeKey(accountId)
      yield* yield* sends(page, "app-begin")
      const secret = /<code[^>]*>([A-Z2-7]{32})<\/code>/.exec(yield* open(page))?.[1] ?? ""
      yield* yield* sends(page, "app-confirm", { code: new TOTP({ secret: Secret.fromBase32(secret) }).generate() })
      yield* yield* sends(page, "codes")
      const secretOf = (one: string) => ({ password: one, password_confirmation: one })
      yield* yield* sends(page, "password", { current_password: password, ...secretOf("another horse battery staple") })
      yield* yield* sends(`${page}/app/remove`, "remove")
      yield* yield* sends(`${page}/passkeys/${passkeyId}/rename`, "rename", { name: "Laptop" })
      yield* yield* sends(`${page}/passkeys/${passkeyId}/remove`, "remove")
      yield* ownerOf(accountId)
      yield* ownerOf(accountId)
      const [newest] = yield* sql`select max(id)::integer as id from login_sessions where person_id = ${personId}`
      assert.strictEqual((yield* request("DELETE", `/v1/account/sign-ins/${newest?.["id"]}`, { key })).status, 200)
      assert.include(yield* open(page), `href="${page}/end-others"`)
      assert.include(yield* open(`${page}/end-others`), "1 other browser has to sign in again.")
      yield* yield* sends(`${page}/end-others`, "end-others")
      const entries = yield* sql`select actor, action, target from audit_entries
        where account_id = ${accountId} and action not like 'key.%' order by id`
      const factors = ["authenticator.added", "recovery_codes.renewed", "password.changed", "authenticator.removed"]
      const own = [...factors, "passkey.renamed", "passkey.removed"]
      assert.deepStrictEqual(entries.map(({ action }) => action), [...own, "session.ended", "session.ended"])
      for (const entry of entries.slice(0, own.length)) assert.strictEqual(entry["actor"], `person ${personId}`)
      assert.match(String(entries[own.length]?.["actor"]), /^key /)
      assert.strictEqual(entries[own.length]?.["target"], `sign-in ${newest?.["id"]}`)
      const told = (text: string) =>
        eventually(
          mailsTo(email),
          (mails) =>
            mails.some(({ raw, subject }) => subject === "Your account has a new way to sign in" && raw.includes(text))
        )
      yield* told("An authenticator app was added")
      yield* told("New recovery codes were made")
    }).pipe(Effect.orDie))

  it.effect("the key of an authenticator app is shown, and its first code taken, only with a fresh proof", () =>
    Effect.gen(function*() {
      const { open, personId, sends, sql } = yield* withPasskey
      const page = "/console/me/security"
      yield* yield* sends(page, "app-begin")
      const secret = /<code[^>]*>([A-Z2-7]{32})<\/code>/.exec(yield* open(page))?.[1] ?? ""
      const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate()
      const confirm = yield* sends(page, "app-confirm", { code })
      yield* sql`update login_sessions set proved_at = now() - interval '1 hour' where person_id = ${personId}`
      assert.notInclude(yield* open(page), secret)
      const late = yield* confirm
      assert.strictEqual(late.status, 422)
      assert.notInclude(late.text, secret)
      assert.include(late.text, "This needs a proof that is at most ten minutes old.")
      assert.include(late.text, `value="${code}"`)
      const confirmed = sql`select from authenticators where person_id = ${personId} and confirmed_at is not null`
      assert.lengthOf(yield* confirmed, 0)
      yield* sql`update login_sessions set proved_at = now() where person_id = ${personId}`
      assert.include(yield* open(page), secret)
      assert.strictEqual((yield* confirm).status, 200)
      assert.lengthOf(yield* confirmed, 1)
    }).pipe(Effect.orDie))

  it.effect("a new way in does not exist without its mail and its entry in the audit log", () =>
    Effect.gen(function*() {
      const { accountId, open, personId, sends, sql } = yield* withPasskey
      const page = "/console/me/security"
      yield* yield* sends(page, "app-begin")
      const secret = /<code[^>]*>([A-Z2-7]{32})<\/code>/.exec(yield* open(page))?.[1] ?? ""
      const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate()
      const confirm = yield* sends(page, "app-confirm", { code })
      const made = sql`select from authenticators where person_id = ${personId} and confirmed_at is not null
        union all select from audit_entries where account_id = ${accountId} and action = 'authenticator.added'`
      yield* sql`alter table notices add constraint no_mail check (kind <> 'second_factor_added') not valid`
      assert.strictEqual((yield* confirm).status, 500)
      assert.lengthOf(yield* made, 0)
      yield* sql`alter table notices drop constraint no_mail`
      assert.strictEqual((yield* confirm).status, 200)
      assert.lengthOf(yield* made, 2)
    }).pipe(Effect.orDie))

  it.effect("a new passkey waits in its form for a fresh proof, and a refused button says why", () =>
    Effect.gen(function*() {
      const { personId, sends, sql } = yield* withPasskey
      const end = yield* yield* sends("/console/me/security", "codes", { _action: "end", id: "999999" })
      assert.strictEqual(end.status, 403)
      assert.include(end.text, "This did not work")
      const confirm = yield* yield* sends("/console/confirm", "confirm", { _action: "confirm-passkey", answer: "{}" })
      assert.include(confirm.text, "This did not work")
      const add = yield* sends("/console/me/security", "codes", {
        _action: "passkey-add",
        answer: "the browser's answer"
      })
      yield* sql`update login_sessions set proved_at = now() - interval '1 hour' where person_id = ${personId}`
      const { text } = yield* add
      const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
      assert.strictEqual(new Set(ids).size, ids.length)
      assert.include(text, "name=\"answer\" value=\"the browser&#39;s answer\"")
    }))

  it.effect("recovery codes are made once by one form, also if it is sent again", () =>
    Effect.gen(function*() {
      const { personId, sends, sql } = yield* withPasskey
      const codes = Effect.map(
        sql`select encode(code_hash, 'hex') as code from recovery_codes where person_id = ${personId} order by code`,
        (rows) => rows.map(({ code }) => code)
      )
      for (const _ of ["first codes", "other codes"]) {
        const form = yield* sends("/console/me/security", "codes")
        assert.include((yield* form).text, "Store these codes now.")
        const made = yield* codes
        assert.strictEqual(made.length, 10)
        assert.include((yield* form).text, "These codes were shown already.")
        assert.deepStrictEqual(yield* codes, made)
      }
    }))

  it.effect("a recovery code is stored with a key, and one that was stored without works once", () =>
    Effect.gen(function*() {
      const { email, personId, sends, sql } = yield* withPasskey
      const { request } = yield* Service
      const login = (code: string) => request("POST", "/v1/auth/login", { json: { email, password, code } })
      const { text } = yield* yield* sends("/console/me/security", "codes")
      const [, code = ""] = /<code[^>]*>([a-z2-7]{5}-[a-z2-7]{5})<\/code>/.exec(text) ?? []
      const plain = (letters: string) => Tokens.hash(`recovery:${letters}`)
      const stored = yield* sql`select from recovery_codes
        where person_id = ${personId} and code_hash = ${plain(code.replace("-", ""))}`
      assert.lengthOf(stored, 0)
      assert.strictEqual((yield* login(code)).status, 200)
      yield* sql`insert into recovery_codes (person_id, code_hash) values (${personId}, ${plain("aaaaabbbbb")})`
      assert.strictEqual((yield* login("aaaaa-bbbbb")).status, 200)
      assert.strictEqual((yield* login("aaaaa-bbbbb")).status, 401)
    }).pipe(Effect.orDie))

  it.effect("a person whose sign-in has ended comes back to the page of the form that they sent", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sent = (path: string) =>
        Effect.map(request("POST", path, { body: "" }), ({ headers }) => headers["location"])
      assert.strictEqual(yield* sent("/console/7/keys/new"), "/console/sign-in?next=%2Fconsole%2F7%2Fkeys%2Fnew")
      assert.strictEqual(yield* sent("/console/sign-out"), "/console/sign-in")
    }))

  it.effect("what a person typed before their sign-in ended comes back once they are signed in again, passwords do not", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { accountId } = yield* makeAccount({ password })
      const path = `/console/${accountId}/templates/new`
      const send = (cookie: string, to: string, fields: PlainForm["fields"], site = "same-origin") =>
        request("POST", to, {
          headers: { cookie, "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": site },
          body: String(new URLSearchParams(fields.map(([name, value]): [string, string] => [name, value])))
        })
      const typed = [["name", "Receipt"], ["html", "<p>\r\n\"Two\" lines"]] as const
      const form = [["_action", "create"], ["_token", "old"], ["_once", "1"], ...typed] as const
      const { status, text } = yield* send("", path, form)
      assert.strictEqual(status, 401)
      assert.include(text, "Nothing was sent. This page keeps what you wrote.")
      const kept = formsOf(path, text).flatMap(({ fields, method }) => method === "post" ? fields : [])
      assert.deepStrictEqual(kept, [["_action", "create"], ...typed])

      assert.strictEqual((yield* send("", path, kept)).status, 401, "not signed in yet")
      const { cookie } = yield* ownerOf(accountId)
      const back = yield* send(cookie, path, kept)
      assert.strictEqual(back.status, 403)
      const shown = formsOf(path, back.text).find(({ name }) => name === "create")?.fields ?? []
      assert.deepStrictEqual(shown.filter(([name]) => name === "name" || name === "html"), [...typed])

      assert.strictEqual((yield* send("", path, form, "cross-site")).status, 302)
      const secret = [["_action", "password"], ["current_password", password], ["password", "b"]] as const
      const answer = yield* send("", "/console/me/security", secret)
      assert.strictEqual(answer.headers["location"], "/console/sign-in?next=%2Fconsole%2Fme%2Fsecurity")
    }))

  it.effect("a file gives the browser the token that it renews, as a page does", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount({ password })
      for (const path of ["/messages", "/messages?format=csv"]) {
        const { cookie } = yield* ownerOf(accountId)
        yield* sql`update login_sessions set renewed_at = now() - interval '25 hours'
          where id = (select max(id) from login_sessions)`
        const answer = yield* request("GET", `/console/${accountId}${path}`, { headers: { cookie } })
        assert.match(answer.headers["set-cookie"] ?? "", /^console=lt_live_\w{38}; /, path)
      }
    }))

  it.effect("a table and the token of the sandbox wait for a fresh proof, which leads back to their page", () =>
    Effect.gen(function*() {
      const { accountId, open, personId, sends, sql } = yield* withPasskey
      const { request } = yield* Service
      const at = `/console/${accountId}`
      const { cookie } = yield* ownerOf(accountId)
      const file = request("GET", `${at}/messages?channel=sms&format=csv`, { headers: { cookie } })
      yield* sql`update people set is_operator = true where id = ${personId}`
      assert.strictEqual((yield* file).status, 200)
      assert.include(yield* open(`${at}/sandbox`), sandboxToken)
      yield* sql`update login_sessions set proved_at = now() - interval '1 hour' where person_id = ${personId}`
      const { headers, status } = yield* file
      const confirm = `/console/confirm?next=${encodeURIComponent(`${at}/messages?channel=sms`)}`
      assert.deepStrictEqual([status, headers["location"]], [302, confirm])
      const sandbox = yield* open(`${at}/sandbox`)
      assert.notInclude(sandbox, sandboxToken)
      assert.include(sandbox, `href="/console/confirm?next=${encodeURIComponent(`${at}/sandbox`)}"`)
      // A deletion asks in its form.
      const [webhook] = yield* sql`insert into webhooks (account_id, url, events, secret, secret_prefix)
        values (${accountId}, 'https://shop.example/hook', array['*'], '', 'whsec_') returning id`
      const erase = `${at}/webhooks/${webhook?.["id"]}/delete`
      assert.include(yield* open(erase), `name="_password"`)
      assert.strictEqual((yield* yield* sends(erase, "delete", { _password: "wrong" })).status, 422)
      assert.lengthOf(yield* sql`select from webhooks where account_id = ${accountId}`, 1)
    }).pipe(Effect.orDie))

  it.effect("an operator without a second factor opens no page of an account over https, and every page on the machine itself", () =>
    Effect.gen(function*() {
      const near = yield* Service
      const sql = yield* SqlClient.SqlClient
      const far = yield* startNode({ env: { PUBLIC_URL: "https://console.example" } })
      const { accountId } = yield* makeAccount({ password })
      const { personId, token } = yield* ownerOf(accountId)
      const open = (path: string) =>
        far.request("GET", path, { headers: { host: "console.example", cookie: `__Host-console=${token}` } })
      const page = `/console/${accountId}/keys`
      assert.strictEqual((yield* open(page)).status, 200)
      yield* sql`update people set is_operator = true where id = ${personId}`
      const refused = yield* open(page)
      assert.deepStrictEqual([refused.status, refused.headers["location"]], [302, "/console/me/security"])
      const asks = "You operate this service, so you need a second factor."
      const security = yield* open("/console/me/security")
      assert.include(security.text, asks)
      assert.include(security.text, "data-passkey=\"create\"")
      const local = { headers: { cookie: `console=${token}` } }
      assert.strictEqual((yield* near.request("GET", page, local)).status, 200)
      yield* sql`insert into passkeys (person_id, credential_id, public_key, counter, name)
        values (${personId}, ${new TextEncoder().encode(`credential of ${personId}`)}, '\\x00', 0, 'Phone')`
      assert.strictEqual((yield* open(page)).status, 200)
      assert.notInclude((yield* open("/console/me/security")).text, asks)
    }))

  it.effect("a form of another site, and one with the token of another sign-in, change nothing", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { accountId, keyId } = yield* makeAccount({ password })
      const { cookie } = yield* ownerOf(accountId)
      const other = yield* ownerOf(accountId)
      const path = `/console/${accountId}/keys/${keyId}/revoke`
      const tokenOf = (given: string) =>
        Effect.map(
          request("GET", path, { headers: { cookie: given } }),
          ({ text }) => /name="_token" value="([^"]*)"/.exec(text.slice(text.indexOf("<main")))?.[1] ?? ""
        )
      const send = (token: string, site: Readonly<Record<string, string>>) =>
        request("POST", path, {
          headers: { cookie, "content-type": "application/x-www-form-urlencoded", ...site },
          body: String(new URLSearchParams({ _action: "revoke", _token: token, _once: "1" }))
        })
      const own = yield* tokenOf(cookie)
      const same = { "sec-fetch-site": "same-origin" }
      assert.strictEqual((yield* send(own, { "sec-fetch-site": "cross-site" })).status, 403)
      assert.strictEqual((yield* send(own, { origin: "http://evil.example" })).status, 403)
      assert.strictEqual((yield* send(own, {})).status, 403)
      assert.strictEqual((yield* send(yield* tokenOf(other.cookie), same)).status, 403)
      assert.strictEqual((yield* send(own, same)).status, 303)
    }))

  it.effect("the draft of a form of another site is not drawn, and its own page draws it in a locked frame", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { accountId } = yield* makeAccount({ password })
      const { cookie } = yield* ownerOf(accountId)
      const path = `/console/${accountId}/templates/new`
      const { text } = yield* request("GET", path, { headers: { cookie } })
      const token = /name="_token" value="([^"]*)"/.exec(text.slice(text.indexOf("<main")))?.[1] ?? ""
      const draft = (given: string) =>
        request("POST", path, {
          headers: {
            cookie,
            "content-type": "application/x-www-form-urlencoded",
            "sec-fetch-site": given === "" ? "cross-site" : "same-origin"
          },
          body: String(
            new URLSearchParams({ _action: "create", _token: given, _instead: "draft", html: "<h1>Pay here</h1>" })
          )
        })
      const own = yield* draft(token)
      assert.strictEqual(own.status, 200)
      assert.include(own.text, "<h1>Pay here</h1>")
      const foreign = yield* draft("")
      assert.strictEqual(foreign.status, 403)
      assert.notInclude(foreign.text, "<h1>Pay here</h1>")
      assert.include(foreign.text, "&lt;h1&gt;Pay here")
    }))
})
