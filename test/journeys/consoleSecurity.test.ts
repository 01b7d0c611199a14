/** Second factors, the list of sign-ins, and fresh proofs, in a real browser with a virtual authenticator. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Secret, TOTP } from "otpauth"
import { assertAccessible } from "../support/axe.ts"
import { type BrowserPage, chromium, openPage } from "../support/Chromium.ts"
import { ownerOf } from "../support/consolePeople.ts"
import { makeAccount, type RunningNode, Service } from "../support/Service.ts"

const password = "correct horse battery staple"

const type = (page: BrowserPage, name: string, text: string) =>
  page.evaluate(`document.querySelector("main [name=${name}]").value = ${JSON.stringify(text)}`)

const titled = (title: string) => `document.querySelector("h1")?.textContent === ${JSON.stringify(title)}`
const says = (text: string) => `document.querySelector("main")?.textContent.includes(${JSON.stringify(text)}) === true`

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
  const totp = new TOTP({ secret: Secret.fromBase32(secret) })
  yield* type(page, "code", "000000")
  yield* page.click(`${app} form button`)
  yield* page.until(says("This is not the code that the app shows now."))
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

layer(Service.layer(), { excludeTestServices: true })("second factors in a browser", (it) => {
  it.effect.skipIf(chromium === undefined)(
    "a person adds a passkey and an app, signs in with each of them, and ends other sign-ins",
    () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { email } = yield* makeAccount({ password })
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
        yield* page.until(says("The passkey was added."))
        yield* assertAccessible(page)

        yield* page.open(addressOf(node, "/sign-out"))
        yield* page.click("main form button.main")
        yield* page.until(titled("Sign in"))
        yield* page.click("form[data-passkey=get] button")
        yield* page.until(titled("Overview"))

        const other = yield* openPage
        yield* signIn(other, node, email)
        yield* other.until(titled("Enter your code"))
        yield* assertAccessible(other)
        yield* type(other, "code", codes[1] ?? "")
        yield* other.click("main form button.main")
        yield* other.until(titled("Overview"))
        yield* page.open(addressOf(node, "/me/security"))
        yield* page.click("section[aria-labelledby=sign-ins] > .buttons button")
        yield* page.until(says("All other sign-ins were ended."))
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
      assert.strictEqual((yield* request("DELETE", `/v1/account/sign-ins/${id}`, { key })).status, 200)
      assert.strictEqual((yield* page).status, 302)
      assert.strictEqual((yield* request("DELETE", `/v1/account/sign-ins/${id}`, { key })).status, 404)
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
      const send = (given: string) =>
        request("POST", path, {
          headers: { cookie, "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" },
          body: String(
            new URLSearchParams({
              _action: "create",
              _token: hidden("_token"),
              _once: hidden("_once"),
              name: "Shop",
              preset: "email",
              expires_at: "30",
              _password: given
            })
          )
        })
      const refused = yield* send("not the password")
      assert.strictEqual(refused.status, 422)
      assert.include(refused.text, "value=\"Shop\"")
      assert.include(refused.text, "value=\"email\" checked")
      const made = yield* send(password)
      assert.strictEqual(made.status, 200)
      assert.match(made.text, /sk_live_\w{38}/)
      // The proof has renewed the token of the browser.
      assert.match(made.headers["set-cookie"] ?? "", /^console=lt_live_\w{38}; /)
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
})
