/**
 * The jobs of a developer, with the clicks that each may take: a click is a press of a link, a button or Enter, and typing is
 * free. `consoleWebhooks.test.ts` has the replay of what a webhook missed.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Tokens from "../../src/platform/crypto/Tokens.ts"
import { type BrowserPage, chromium, openPage } from "../support/Chromium.ts"
import { signedInAs } from "../support/consolePeople.ts"
import { shows, submit, titled, type } from "../support/look.ts"
import { eventually, makeAccount, Service } from "../support/Service.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"

/** A page that counts its clicks. */
const counted = (page: BrowserPage) => {
  let clicks = 0
  const click: BrowserPage["click"] = (selector) =>
    Effect.tap(page.click(selector), () => Effect.sync(() => void clicks++))
  return { ...page, click, clicks: () => clicks }
}

layer(Service.layer(), { excludeTestServices: true })("the clicks of a job", (it) => {
  /** The overview of a new account, open. */
  const overview = Effect.gen(function*() {
    const node = yield* Service
    const { accountId, key } = yield* makeAccount()
    const { token } = yield* signedInAs(accountId, "owner")
    const page = counted(yield* openPage)
    yield* page.command("Network.enable")
    yield* page.command("Network.setCookie", { name: "console", value: token, url: node.baseUrl })
    yield* page.open(`${node.baseUrl}/console/${accountId}/`)
    return { node, accountId, key, page }
  })

  it.effect.skipIf(chromium === undefined)(
    "from the link of the first start to a mail that the relay took takes 4, the link among them",
    () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        yield* makeAccount()
        const token = Tokens.mint("st_")
        yield* sql`insert into setup_links (token_hash, expires_at) values (${
          Tokens.hash(token)
        }, now() + interval '1 hour')`
        const page = counted(yield* openPage)
        yield* page.open(`${node.baseUrl.replace("127.0.0.1", "localhost")}/console/setup/${token}`)
        for (
          const [name, text] of [["name", "Ada"], ["email", "ada@example.com"], [
            "password",
            "correct horse battery staple"
          ]] as const
        ) {
          yield* type(page, name, text)
        }
        yield* page.click(submit)
        yield* page.click("main a[href$='/send']")
        yield* type(page, "to", "ada@example.com")
        yield* type(page, "subject", "Hello")
        yield* type(page, "text", "Hello")
        yield* page.click(submit)
        yield* page.until(shows("The mail relay took it."))
        assert.strictEqual(1 + page.clicks(), 4)
      })
  )

  it.effect.skipIf(chromium === undefined)("a key that may only send email takes 3", () =>
    Effect.gen(function*() {
      const { page } = yield* overview
      yield* page.click(".nav a[href$='/keys']")
      yield* page.click("main a.button.main")
      yield* type(page, "name", "Receipts")
      yield* page.evaluate(`document.querySelector("main [name=preset][value=email]").checked = true`)
      yield* page.click(submit)
      yield* page.until(titled("Your new API key"))
      assert.strictEqual(page.clicks(), 3)
    }))

  it.effect.skipIf(chromium === undefined)(
    "the records of a new domain take 3, a check of them 1 more",
    () =>
      Effect.gen(function*() {
        const { page } = yield* overview
        yield* page.click(".nav a[href$='/domains']")
        yield* page.click("main a.button.main")
        yield* type(page, "domain", "clicks-of-ada.com")
        yield* page.click(submit)
        yield* page.until(shows("api._domainkey.clicks-of-ada.com."))
        assert.strictEqual(page.clicks(), 3)
        yield* page.click("main .head form button")
        yield* page.until(shows("What DNS has"))
        assert.strictEqual(page.clicks(), 4)
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a new webhook and what it answered to a test take 4",
    () =>
      Effect.gen(function*() {
        const { page } = yield* overview
        const receiver = yield* makeWebhookReceiver({ script: [{ status: 200, body: "thank you" }] })
        yield* page.click("main a[href$='/webhooks/new']")
        yield* type(page, "url", receiver.url)
        yield* page.click(submit)
        yield* page.until(titled("Your new webhook"))
        yield* page.click("main a[href$='/test']")
        yield* page.until(titled("Send a test event"))
        yield* page.click(submit)
        yield* page.until(shows("thank you"))
        assert.strictEqual(page.clicks(), 4)
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a webhook that turns unhealthy and recovers takes 13, without an application that receives it",
    () =>
      Effect.gen(function*() {
        const { page } = yield* overview
        const sql = yield* SqlClient.SqlClient
        const send = (subject: string) =>
          Effect.gen(function*() {
            yield* page.click(".nav a[href$='/send']")
            yield* type(page, "to", "ada@example.com")
            yield* type(page, "subject", subject)
            yield* type(page, "text", "Hello")
            yield* page.click(submit)
            yield* page.until(shows("The mail relay took it."))
          })
        const openWebhook = Effect.andThen(page.click(".nav a[href$='/webhooks']"), page.click("main .list a"))

        yield* page.click(".nav a[href$='/sandbox']")
        yield* page.click("main a[href$='/webhooks/new?to=sandbox']")
        yield* page.until(`document.querySelector("main [name=url]")?.value.includes("/sandbox/receiver/") === true`)
        yield* page.click(submit)
        yield* page.until(titled("Your new webhook"))
        yield* page.click("main a.button.main")
        yield* page.until(shows("It answers 204."))
        yield* page.click("main #receiver ~ .buttons button")
        yield* page.until(shows("It answers 500 until"))
        assert.strictEqual(page.clicks(), 5)

        yield* send("Hello")
        yield* openWebhook
        yield* page.until(shows("500"))
        // In place of the three minutes of its retries.
        yield* eventually(
          Effect.andThen(
            sql`update webhook_queue set due_at = now() - interval '1 minute' where status = 'retrying' and due_at > now()`,
            page.evaluate(shows("Deliveries kept failing"))
          ),
          (isUnhealthy) => isUnhealthy === true
        )
        yield* page.click("main #receiver ~ .buttons button")
        yield* page.until(shows("It answers 204."))
        yield* page.click("main .head form button.main")
        yield* page.until(`${shows("Deliveries kept failing")} === false && ${shows("Disable")}`)
        yield* page.click("main a[href$='/recover']")
        yield* page.click(submit)
        yield* page.until(shows("completed"))
        assert.strictEqual(page.clicks(), 5 + 2 + 2 + 4)
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a template with values takes 2, the code of a new WhatsApp session 3, a link to its code 1 more",
    () =>
      Effect.gen(function*() {
        const { key, node, page } = yield* overview
        const json = { name: "Welcome", subject: "Hello {{name}}", html: "<p>Hello {{name}}</p>" }
        const made = yield* node.request("POST", "/v1/email/templates", { key, json })
        assert.strictEqual(made.status, 201, made.text)
        yield* page.click(".nav a[href$='/templates']")
        yield* page.click("main .list a")
        yield* page.until(`document.querySelector("main iframe") !== null`)
        assert.strictEqual(page.clicks(), 2)
        yield* page.click(".nav a[href$='/whatsapp']")
        yield* page.click("main a.button.main")
        yield* type(page, "name", "Shop")
        yield* page.click(submit)
        yield* page.until(`document.querySelector(".pairing img")?.naturalWidth > 0`)
        assert.strictEqual(page.clicks(), 2 + 3)
        yield* page.command("Browser.grantPermissions", {
          permissions: ["clipboardReadWrite", "clipboardSanitizedWrite"]
        })
        yield* page.command("Page.bringToFront")
        yield* page.click("main form[data-copies] button")
        yield* page.until(`document.querySelector("main form[data-copies] button").textContent === "Copied"`)
        assert.strictEqual(page.clicks(), 2 + 3 + 1)
        const link = String(yield* page.evaluate("navigator.clipboard.readText()"))
        assert.include(link, "/console/pair/")
        const opened = yield* node.request("GET", URL.parse(link)?.pathname ?? "")
        assert.strictEqual(opened.status, 200)
        assert.include(opened.text, "Link your phone to Shop")
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "why a mail was not sent takes 2, to send it all the same 2 more",
    () =>
      Effect.gen(function*() {
        const { key, node, page } = yield* overview
        yield* node.request("POST", "/v1/email/suppressions", { key, json: { email: "gone@example.com" } })
        const json = { to: "gone@example.com", subject: "Hello", text: "Hello" }
        yield* node.request("POST", "/v1/email/send", { key, json })
        yield* eventually(
          node.request("GET", "/v1/messages?status=suppressed", { key }),
          ({ at }) => at("data", 0) !== undefined
        )
        yield* page.click(".nav a[href$='/messages']")
        yield* page.click("main .list tbody a")
        yield* page.until(shows("suppression list"))
        assert.strictEqual(page.clicks(), 2)
        yield* page.click("main .why form.inline button")
        yield* page.until(`location.pathname.endsWith("/send") && ${shows("The address gets mail again.")}`)
        // The record of an email has no text.
        yield* type(page, "text", "Hello")
        yield* page.click(submit)
        yield* page.until(shows("The mail relay took it."))
        assert.strictEqual(page.clicks(), 2 + 2)
      })
  )
})
