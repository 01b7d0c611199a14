/**
 * The console in a real browser: a person sets the installation up, makes a key, rotates and revokes it, and signs out
 * and in.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Tokens from "../../src/platform/crypto/Tokens.ts"
import { assertAccessible } from "../support/axe.ts"
import { type BrowserPage, chromium, openPage } from "../support/Chromium.ts"
import { titled, type } from "../support/look.ts"
import { makeAccount, Service } from "../support/Service.ts"

const password = "correct horse battery staple"

/** A link of the first start. */
const setupLink = Effect.fnUntraced(function*(base: string) {
  const sql = yield* SqlClient.SqlClient
  const token = Tokens.mint("st_")
  yield* Effect.orDie(
    sql`insert into setup_links (token_hash, expires_at) values (${Tokens.hash(token)}, now() + interval '1 hour')`
  )
  return `${base.replace("127.0.0.1", "localhost")}/console/setup/${token}`
})

/** The sign-in page has a form for passkeys first. */
const submit = "main form:has(input:not([type=hidden])) button"

const setsUp = Effect.fnUntraced(function*(page: BrowserPage, link: string) {
  yield* page.open(link)
  yield* assertAccessible(page)
  yield* type(page, "name", "Ada Lovelace")
  yield* type(page, "email", "ada@example.com")
  yield* type(page, "timezone", "Asia/Tokyo")
  yield* type(page, "password", "short")
  yield* page.click(submit)
  yield* page.until(`document.querySelector("#f-password[aria-invalid]") !== null`)
  // The typed values stay, except the password.
  assert.strictEqual(yield* page.evaluate(`document.querySelector("#f-email").value`), "ada@example.com")
  assert.strictEqual(yield* page.evaluate(`document.querySelector("#f-timezone").value`), "Asia/Tokyo")
  yield* assertAccessible(page)
  yield* type(page, "password", password)
  yield* page.click(submit)
  yield* page.until(titled("Overview"))
  yield* assertAccessible(page)
  yield* page.open(link)
  yield* page.until(titled("This link does not work"))
})

const makesKey = Effect.fnUntraced(function*(page: BrowserPage) {
  yield* page.open(`${yield* page.evaluate("location.origin")}/console/`)
  yield* page.until(titled("Overview"))
  yield* page.click(".nav a[href$='/keys']")
  yield* page.until(titled("API keys"))
  yield* assertAccessible(page)
  yield* page.click("main a.button.main")
  yield* page.until(titled("New API key"))
  yield* assertAccessible(page)
  yield* page.click(submit)
  yield* page.until(`document.querySelector("#f-name[aria-invalid]") !== null`)
  yield* assertAccessible(page)
  yield* type(page, "name", `Shop <img src=x onerror="document.title='run'">`)
  const sent = yield* page.evaluate(`new URLSearchParams(new FormData(document.querySelector("main form"))).toString()`)
  yield* page.click(submit)
  yield* page.until(titled("Your new API key"))
  yield* assertAccessible(page)
  const key = yield* page.evaluate(`document.querySelector(".copyable code").textContent`)
  // The same form again does nothing twice, and the secret stays hidden.
  const headers = "{ 'content-type': 'application/x-www-form-urlencoded' }"
  const again = yield* page.evaluate(
    `fetch(location.href, { method: "POST", headers: ${headers}, body: ${
      JSON.stringify(sent)
    } }).then((answer) => answer.text())`
  )
  assert.include(String(again), "was shown already")
  assert.notInclude(String(again), String(key))
  return String(key)
})

/** Ends the key at once; returns the one that replaces it. */
const rotates = Effect.fnUntraced(function*(page: BrowserPage) {
  yield* page.click(".nav a[href$='/keys']")
  yield* page.until(titled("API keys"))
  yield* page.click("main a[href$='/rotate']")
  yield* page.until(`document.querySelector("h1")?.textContent.startsWith("Rotate Shop") === true`)
  yield* assertAccessible(page)
  yield* page.evaluate(`document.querySelector("main [name=overlap_seconds]").value = "0"`)
  yield* page.click("main form button.main")
  yield* page.until(titled("Your new API key"))
  yield* assertAccessible(page)
  assert.include(String(yield* page.evaluate("document.body.textContent")), "old key are refused from now on")
  const key = yield* page.evaluate(`document.querySelector(".copyable code").textContent`)
  yield* page.click("main a.button.main")
  yield* page.until(titled("API keys"))
  // The list has the old key, which cannot be rotated again, and never the whole new one.
  yield* page.until(`document.querySelectorAll("main a[href$='/rotate']").length === 1`)
  assert.include(String(yield* page.evaluate("document.body.textContent")), "replaced")
  assert.notInclude(String(yield* page.evaluate("document.body.textContent")), String(key))
  yield* assertAccessible(page)
  return String(key)
})

const revokes = Effect.fnUntraced(function*(page: BrowserPage) {
  yield* page.click(".nav a[href$='/keys']")
  yield* page.until(titled("API keys"))
  yield* page.click("a[data-dialog]")
  yield* page.until(`document.querySelector("dialog[open]") !== null`)
  yield* assertAccessible(page)
  yield* page.click("dialog .buttons a")
  yield* page.until(`document.querySelector("dialog") === null`)
  yield* page.click("a[data-dialog]")
  yield* page.click("dialog form button.danger")
  yield* page.until(`document.querySelector("[role=status]")?.textContent === "The key was revoked."`)
})

const signsOutAndIn = Effect.fnUntraced(function*(page: BrowserPage) {
  yield* page.click(".menu.person summary")
  yield* assertAccessible(page)
  yield* page.click(".menu.person form button")
  yield* page.until(titled("Sign in"))
  yield* assertAccessible(page)
  yield* type(page, "email", "ada@example.com")
  yield* type(page, "password", "not the password")
  yield* page.click(submit)
  yield* page.until(`document.querySelector("[role=alert]") !== null`)
  yield* assertAccessible(page)
  yield* type(page, "password", password)
  yield* page.click(submit)
  yield* page.until(titled("Overview"))
})

layer(Service.layer(), { excludeTestServices: true })("the console in a browser", (it) => {
  it.effect.skipIf(chromium === undefined)(
    "a person follows the link of the first start, makes a key that works, rotates it, revokes it, and signs out and in",
    () =>
      Effect.gen(function*() {
        const node = yield* Service
        const page = yield* openPage
        yield* setsUp(page, yield* setupLink(node.baseUrl))
        const first = yield* makesKey(page)
        const use = (key: string) => Effect.map(node.request("GET", "/v1/api-keys", { key }), ({ status }) => status)
        assert.strictEqual(yield* use(first), 200)
        const second = yield* rotates(page)
        assert.deepStrictEqual([yield* use(first), yield* use(second)], [401, 200])
        yield* revokes(page)
        assert.strictEqual(yield* use(second), 401)
        yield* signsOutAndIn(page)
        yield* page.open(`${yield* page.evaluate("location.origin")}/console/1/none`)
        yield* page.until(titled("This page does not exist"))
        yield* assertAccessible(page)
      })
  )

  it.effect.skipIf(chromium === undefined)("pages work without scripts", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { email } = yield* makeAccount({ password })
      const page = yield* openPage
      yield* page.command("Emulation.setScriptExecutionDisabled", { value: true })
      yield* page.open(`${node.baseUrl.replace("127.0.0.1", "localhost")}/console/sign-in`)
      yield* type(page, "email", email)
      yield* type(page, "password", password)
      yield* page.click(submit)
      yield* page.until(titled("Overview"))
      yield* page.click(".nav a[href$='/keys']")
      yield* page.until(titled("API keys"))
      yield* page.open(`${yield* page.evaluate("location.href")}/new`)
      yield* type(page, "name", "Shop")
      yield* page.click("main form button[value=command]")
      yield* page.until(`document.querySelector("#command code")?.textContent.includes('"name": "Shop"') === true`)
      assert.strictEqual(yield* page.evaluate(`document.querySelector("#f-name").value`), "Shop")
      yield* page.click(".crumbs a")
      yield* page.until(titled("API keys"))
      yield* page.click("a[data-dialog]")
      yield* page.until(`document.querySelector("main form button.danger") !== null`)
      yield* page.click("main form button.danger")
      yield* page.until(`document.querySelector("[role=status]")?.textContent === "The key was revoked."`)
    }))
})
