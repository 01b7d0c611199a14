/** Test mode in a real browser: what the recipient received stands beside the message. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Role } from "../../src/values/Permission.ts"
import { chromium } from "../support/Chromium.ts"
import { signedInAs } from "../support/consolePeople.ts"
import { look, said, shows, submit, titled, type, visitor } from "../support/look.ts"
import { makeAccount, Service } from "../support/Service.ts"
import { eventually, longer } from "../support/waiting.ts"

layer(Service.layer(), { excludeTestServices: true })("the sandbox in the console", (it) => {
  it.effect.skipIf(chromium === undefined)(
    "a person without a test key gets into test mode by making one",
    () =>
      Effect.gen(function*() {
        const { accountId, at, page } = yield* visitor
        // The longest words, in the narrowest window.
        yield* page.command("Emulation.setDeviceMetricsOverride", {
          width: 320,
          height: 640,
          deviceScaleFactor: 1,
          mobile: false
        })
        yield* page.open(`${at}/?lang=sw`)
        assert.strictEqual(yield* page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true)
        const isInHeader = `(() => {
          const bar = document.querySelector(".bar").getBoundingClientRect()
          return [...document.querySelectorAll(".bar a, .bar summary")].filter((one) => one.checkVisibility()).every((one) => {
            const { bottom, left, right } = one.getBoundingClientRect()
            return left >= bar.left && right <= bar.right && bottom <= bar.bottom
          })
        })()`
        assert.strictEqual(yield* page.evaluate(isInHeader), true)
        yield* page.open(`${at}/`)
        yield* page.click(".modes a:last-child")
        yield* page.until(titled("New API key"))
        yield* page.until(`document.querySelector("[name=mode][value=test]").checked`)
        yield* type(page, "name", "CI")
        yield* page.click("main form button[value=command]")
        yield* page.until(`document.querySelector("#command code")?.textContent.includes('"mode": "test"') === true`)
        yield* look(page, "key-test")
        yield* page.click(submit)
        yield* page.until(titled("Your new API key"))
        assert.match(String(yield* page.evaluate(`document.querySelector(".copyable code").textContent`)), /^sk_test_/)
        yield* page.click("main .buttons a[href$='/test/']")
        yield* page.until(`location.pathname === "/console/${accountId}/test/" && ${titled("Overview")}`)
        yield* page.open(`${at}/keys`)
        yield* page.until(`document.querySelectorAll(".list tbody tr").length === 2`)
        const modes =
          `[...document.querySelectorAll(".list tbody td:nth-child(3) > :last-child")].map((one) => one.textContent)`
        assert.deepStrictEqual(yield* page.evaluate(modes), ["Test", "Live"])
        yield* page.open(`${at}/test/keys/new`)
        yield* page.until(titled("New API key"))
        const offered =
          `[...document.querySelectorAll("[name=mode]")].map(({ checked, value }) => value + checked).join()`
        assert.strictEqual(yield* page.evaluate(offered), "testtrue")
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a person in test mode sees the inbox beside the message, the phone beside a text, and makes a mail bounce",
    () =>
      Effect.gen(function*() {
        const { at, key, node, page } = yield* visitor
        yield* node.request("POST", "/v1/api-keys", { key, json: { name: "CI", mode: "test" } })
        yield* page.open(`${at}/test/sandbox`)
        yield* page.until(shows("Nothing has arrived yet."))
        yield* look(page, "sandbox-empty")
        yield* page.open(`${at}/test/send?channel=email&to=ada@example.com`)
        yield* type(page, "subject", "Your <receipt>")
        yield* type(page, "text", "Thank you, Ada.")
        yield* page.click(submit)
        yield* page.until(titled("Email to ada@example.com"))
        yield* page.until(shows("What ada@example.com received"))
        // The page loads the inbox again by itself.
        yield* page.until(`document.querySelector(".received h3")?.textContent === "Your <receipt>"`)
        yield* page.until(shows("Thank you, Ada."))
        yield* look(page, "message-beside")
        yield* page.open(`${at}/test/send?channel=sms&to=%2B250788123456`)
        yield* type(page, "content", "Your table is ready.")
        yield* page.click(submit)
        yield* page.until(titled("SMS to +250788123456"))
        yield* page.until(`document.querySelector(".received.sms .words")?.textContent === "Your table is ready."`)
        yield* page.open(`${at}/test/sandbox`)
        yield* page.until(`document.querySelectorAll(".received").length === 2`)
        yield* look(page, "sandbox")
        yield* page.click("main .list a[href*='bounce']")
        yield* page.until(`document.querySelector("#f-to")?.value === "bounce@example.com"`)
        yield* type(page, "subject", "To a missing mailbox")
        yield* type(page, "text", "Hello.")
        yield* page.click(submit)
        yield* page.until(titled("Email to bounce@example.com"))
        const path = String(yield* page.evaluate("location.href"))
        yield* eventually(
          Effect.andThen(page.open(path), page.evaluate(shows("Refused for good"))),
          (isThere) => isThere === true,
          longer.start
        )
        yield* page.open(`${at}/test/sandbox`)
        yield* page.click("main .head a[href$='/clear']")
        yield* page.click("dialog form button.danger")
        yield* page.until(said("The sandbox of this account is empty."))
        yield* page.until(`document.querySelectorAll(".received").length === 0`)
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a person makes the webhook receiver fail, on its card and on the page of a webhook that posts to it",
    () =>
      Effect.gen(function*() {
        const { at, page } = yield* visitor
        yield* page.open(`${at}/sandbox`)
        yield* page.until(shows("It answers 204."))
        const url = String(yield* page.evaluate(`document.querySelector("main .copyable code").textContent`))
        yield* page.click("main #receiver ~ .buttons form button")
        yield* page.until(said("The receiver answers 500 now."))
        yield* page.until(shows("It answers 500 until"))
        yield* look(page, "receiver")
        yield* page.open(`${at}/webhooks/new`)
        yield* look(page, "webhook-new")
        yield* page.click("main a[href$='?to=sandbox']")
        yield* page.until(`document.querySelector("#f-url")?.value === ${JSON.stringify(url)}`)
        yield* page.click(submit)
        yield* page.until(titled("Your new webhook"))
        yield* page.click("main a.button.main")
        yield* page.until(titled(url))
        yield* look(page, "webhook-receiver")
        yield* page.click("main #receiver ~ .buttons form button")
        yield* page.until(said("The receiver answers 204 again."))
        yield* page.until(shows("It answers 204."))
      })
  )

  it.effect("a person who may not change webhooks sees the receiver without its buttons", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { accountId } = yield* makeAccount()
      const read = (role: Role) =>
        Effect.gen(function*() {
          const { token } = yield* signedInAs(accountId, role)
          const headers = { cookie: `console=${token}` }
          return (yield* node.request("GET", `/console/${accountId}/sandbox`, { headers })).text
        })
      const support = yield* read("support")
      // Test mode begins with a key, which this person may not make.
      assert.notInclude(support, "mode=test")
      assert.include(support, "/sandbox/receiver/")
      assert.notInclude(support, "name=\"failing\"")
      assert.notInclude(support, "/webhooks/new")
      const developer = yield* read("developer")
      assert.include(developer, "name=\"failing\"")
      assert.include(developer, "/keys/new?mode=test")
      assert.include(developer, "/webhooks/new?to=sandbox")
    }))
})
