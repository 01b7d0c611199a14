/** Webhooks, sending domains and WhatsApp sessions in the console, in a real browser. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { assertAccessible } from "../support/axe.ts"
import { chromium, openPage } from "../support/Chromium.ts"
import { ownerOf } from "../support/consolePeople.ts"
import { said, shows, titled, type } from "../support/look.ts"
import { makeAccount, Service } from "../support/Service.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"

/** The page of a webhook has its address as the title. */
const isAt = (url: string) => `document.querySelector("h1")?.textContent.startsWith(${JSON.stringify(url)}) === true`

/** The owner of a new account, signed in to the console. */
const visit = Effect.fnUntraced(function*() {
  const node = yield* Service
  const { accountId, key } = yield* makeAccount()
  const { token } = yield* ownerOf(accountId)
  const page = yield* openPage
  yield* page.command("Network.enable")
  yield* page.command("Network.setCookie", { name: "console", value: token, url: node.baseUrl })
  const at = (path: string) => page.open(`${node.baseUrl}/console/${accountId}${path}`)
  return { node, accountId, key, page, at }
})

layer(Service.layer(), { excludeTestServices: true })(
  "the console's pages of channels",
  (it) => {
    it.effect.skipIf(chromium === undefined)(
      "a person creates a webhook, sees its secret once, reads what its endpoint answered, stops it and deletes it",
      () =>
        Effect.gen(function*() {
          const receiver = yield* makeWebhookReceiver({ script: [{ status: 500, body: "<b>broken</b>" }] })
          const { at, page } = yield* visit()
          yield* at("/webhooks")
          yield* page.until(shows("No webhooks yet"))
          yield* assertAccessible(page)
          yield* page.click("main a.button.main")
          yield* page.until(titled("New webhook"))
          yield* type(page, "url", "ftp://nowhere")
          yield* page.click("main form button.main")
          yield* page.until(`document.querySelector("#f-url[aria-invalid]") !== null`)
          yield* assertAccessible(page)
          yield* type(page, "url", receiver.url)
          yield* page.click("main form button.main")
          yield* page.until(titled("Your new webhook"))
          const secret = yield* page.evaluate(`document.querySelector(".copyable code").textContent`)
          yield* assertAccessible(page)
          yield* page.click("main a.button.main")
          yield* page.until(isAt(receiver.url))
          assert.notInclude(String(yield* page.evaluate("document.body.textContent")), String(secret))
          yield* assertAccessible(page)
          yield* page.click("main a[href$='/test']")
          yield* page.until(titled("Send a test event"))
          yield* assertAccessible(page)
          yield* page.click("main form button.main")
          yield* page.until(said("The test event was sent. This page shows the answer."))
          yield* page.until(shows("<b>broken</b>"))
          yield* page.until(shows("The endpoint answered with another status than 2xx."))
          assert.strictEqual((yield* receiver.received(1)).length, 1)
          yield* assertAccessible(page)
          yield* page.click(".crumbs li:last-child a")
          yield* page.until(isAt(receiver.url))
          yield* page.until(`document.querySelectorAll(".list tbody tr").length === 1`)
          yield* assertAccessible(page)
          yield* page.click("main .head a[href$='/deliveries']")
          yield* page.until(titled("Deliveries"))
          yield* page.click(".filter summary")
          yield* page.evaluate(`document.querySelector("#filter-status").value = "delivered"`)
          yield* page.click(".filter button")
          yield* page.until(shows("No delivery matches this filter."))
          yield* assertAccessible(page)
          yield* page.click(".crumbs li:last-child a")
          yield* page.until(isAt(receiver.url))
          yield* page.click("main .head form button")
          yield* page.until(said("The webhook is disabled."))
          yield* page.until(shows("it gets no events"))
          yield* assertAccessible(page)
          yield* page.click("main .head form button")
          yield* page.until(said("The webhook is active."))
          yield* at("/webhooks")
          yield* page.until(`document.querySelectorAll(".list tbody tr").length === 1`)
          yield* assertAccessible(page)
          yield* page.click(".list a")
          yield* page.click("a[data-dialog]")
          yield* page.click("dialog form button.danger")
          yield* page.until(said("The webhook was deleted."))
        })
    )

    it.effect.skipIf(chromium === undefined)(
      "a person pairs a phone with the code of the page, which shows the connection by itself",
      () =>
        Effect.gen(function*() {
          const { at, key, node, page } = yield* visit()
          yield* at("/whatsapp")
          yield* page.until(shows("No phone is linked"))
          yield* assertAccessible(page)
          yield* page.click("main a.button.main")
          yield* page.until(titled("New WhatsApp session"))
          yield* assertAccessible(page)
          yield* type(page, "name", "Support phone")
          yield* page.click("main form button.main")
          yield* page.until(titled("Support phone"))
          yield* page.until(`document.querySelector(".pairing img")?.naturalWidth > 0`)
          yield* assertAccessible(page)
          const { json } = yield* node.request("GET", "/v1/whatsapp/sessions", { key })
          const [{ id }] = (json as { readonly data: readonly [{ readonly id: number }] }).data
          const scanned = yield* node.request("POST", "/sandbox/phones/scan", {
            body: new URLSearchParams({ session: String(id), number: "15550104711" }).toString(),
            headers: {
              "content-type": "application/x-www-form-urlencoded",
              authorization: "Bearer token-of-the-sandbox-in-tests"
            }
          })
          assert.include([200, 303], scanned.status, scanned.text)
          yield* page.until(
            `document.querySelector(".pairing img") === null && document.querySelector(".badge.good") !== null`
          )
          yield* page.until(shows("+15550104711"))
          yield* assertAccessible(page)
          yield* at("/whatsapp")
          yield* page.until(shows("connected"))
          yield* assertAccessible(page)
          yield* page.click(".list a")
          yield* page.click("a[data-dialog].danger")
          yield* page.until(`document.querySelector("dialog[open]") !== null`)
          yield* page.evaluate(`document.querySelector("dialog [name=typed]").value = "Support phone"`)
          yield* page.click("dialog form button.danger")
          yield* page.until(said("The session was deleted."))
        })
    )

    it.effect.skipIf(chromium === undefined)(
      "a person adds a domain, copies its records, sees after a check what DNS has, and deletes it",
      () =>
        Effect.gen(function*() {
          const { at, page } = yield* visit()
          yield* at("/domains")
          yield* page.until(shows("No sending domain yet"))
          yield* assertAccessible(page)
          yield* page.click("main a.button.main")
          yield* page.until(titled("Add a sending domain"))
          yield* type(page, "domain", "not a domain")
          yield* page.click("main form button.main")
          yield* page.until(`document.querySelector("#f-domain[aria-invalid]") !== null`)
          yield* assertAccessible(page)
          yield* type(page, "domain", "shop-of-ada.com")
          yield* page.click("main form button.main")
          yield* page.until(titled("shop-of-ada.com"))
          yield* page.until(shows("not checked yet"))
          yield* page.until(shows("api._domainkey.shop-of-ada.com. 3600 IN TXT"))
          yield* assertAccessible(page)
          yield* page.click("main .head form button")
          yield* page.until(said("The records were checked."))
          yield* page.until(shows("What DNS has"))
          yield* page.until(shows("There is no DMARC policy."))
          yield* assertAccessible(page)
          yield* page.click("#f-track_opens")
          yield* page.click("[aria-labelledby=tracking] form button")
          yield* page.until(said("The tracking was changed."))
          yield* page.until(`document.querySelector("#f-track_opens").checked`)
          yield* at("/domains")
          yield* page.until(`document.querySelectorAll(".list tbody tr").length === 1`)
          yield* assertAccessible(page)
          yield* page.click(".list a")
          yield* page.click("a[data-dialog]")
          yield* page.click("dialog form button.danger")
          yield* page.until(`document.querySelector("#f-typed[aria-invalid]") !== null`)
          yield* assertAccessible(page)
          yield* page.evaluate(`document.querySelector("[name=typed]").value = "shop-of-ada.com"`)
          yield* page.click("main form button.danger")
          yield* page.until(said("The domain was deleted."))
        })
    )

    it.effect.skipIf(chromium === undefined)(
      "a person suppresses an address, finds it by its reason, and removes it",
      () =>
        Effect.gen(function*() {
          const { at, page } = yield* visit()
          yield* at("/suppressions")
          yield* page.until(shows("No address is suppressed"))
          yield* assertAccessible(page)
          yield* page.click("main a.button.main")
          yield* page.until(titled("Suppress an address"))
          yield* type(page, "email", "ada at home")
          yield* page.click("main form button.main")
          yield* page.until(`document.querySelector("#f-email[aria-invalid]") !== null`)
          yield* assertAccessible(page)
          yield* type(page, "email", "ada+news@example.com")
          yield* page.click("main form button.main")
          yield* page.until(said("The address gets no mail any more."))
          yield* page.until(shows("ada+news@example.com"))
          yield* assertAccessible(page)
          yield* page.click("main a[href$='/import']")
          yield* page.until(titled("Import addresses"))
          yield* type(page, "emails", "email,reason\nbob@example.com,manual\nbob")
          yield* page.click("main form button.main")
          yield* page.until(shows("Nothing was imported: bob is not an email address."))
          yield* assertAccessible(page)
          yield* type(page, "emails", "email,reason\nbob@example.com,manual")
          yield* page.click("main form button.main")
          yield* page.until(said("The addresses get no mail any more."))
          yield* page.until(shows("bob@example.com"))
          yield* page.click(".tabs a[href*='reason=bounce']")
          yield* page.until(shows("No address is suppressed for this reason."))
          yield* page.click(".tabs a[href*='reason=manual']")
          yield* page.until(shows("ada+news@example.com"))
          yield* page.click("a[data-dialog]")
          yield* page.until(`document.querySelector("dialog[open]") !== null`)
          yield* assertAccessible(page)
          yield* page.click("dialog form button.danger")
          yield* page.until(said("The suppression was removed."))
          yield* page.until(`location.search === "?reason=manual"`)
        })
    )
  }
)
