/** What becomes of a form when its sender is quick, types a lot, or is refused, in a real browser. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { connectedSession } from "../contract/samples.ts"
import { chromium } from "../support/Chromium.ts"
import { said, shows, submit, titled, type, visitor } from "../support/look.ts"
import { Service } from "../support/Service.ts"
import { createSession } from "../support/WhatsApp.ts"

const valueOf = (name: string) => `document.querySelector("#f-${name}").value`

layer(Service.layer(), { excludeTestServices: true })("forms of the console", (it) => {
  it.effect.skipIf(chromium === undefined)(
    "a second click on a button does not send its form again, which would discard the answer to the first",
    () =>
      Effect.gen(function*() {
        const { at, page } = yield* visitor
        yield* page.open(`${at}/keys/new`)
        yield* page.until(titled("New API key"))
        const isRefused = yield* page.evaluate(`(() => {
          const isRefused = []
          addEventListener("submit", (event) => {
            isRefused.push(event.defaultPrevented)
            event.preventDefault()
          })
          const button = document.querySelector("${submit}")
          button.click()
          button.click()
          return isRefused
        })()`)
        assert.deepStrictEqual(isRefused, [false, true])
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a second click on a link that asks for a confirmation opens one dialog",
    () =>
      Effect.gen(function*() {
        const { at, page } = yield* visitor
        yield* page.open(`${at}/keys`)
        const link = `document.querySelector("a[data-dialog]")`
        yield* page.until(`document.readyState === "complete" && ${link} !== null`)
        yield* page.evaluate(`${link}.click(), ${link}.click()`)
        const isLoaded =
          `performance.getEntriesByType("resource").filter(({ name }) => name.endsWith("/revoke")).length === 2`
        yield* page.until(isLoaded)
        const later =
          "new Promise((resolve) => setTimeout(() => resolve(document.querySelectorAll('dialog').length), 100))"
        assert.strictEqual(yield* page.evaluate(later), 1)
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a button that copies gets its label back, however often it was pressed, also on a page that loads itself again",
    () =>
      Effect.gen(function*() {
        const { at, page } = yield* visitor
        yield* page.open(`${at}/`)
        yield* page.until(`document.querySelector("main[data-live]") !== null`)
        yield* page.evaluate("navigator.clipboard.writeText = () => Promise.resolve()")
        yield* page.click("details.curl summary")
        const label = `document.querySelector("details.curl [data-copy] span").textContent`
        const before = yield* page.evaluate(label)
        // The page may load itself again at any later moment, which ends the word early.
        const copied = yield* page.evaluate(`(async () => {
          const button = document.querySelector("details.curl [data-copy]")
          button.click()
          button.click()
          for (let turn = 0; turn < 5; turn++) await null
          return ${label}
        })()`)
        assert.strictEqual(copied, "Copied")
        yield* page.until(`${label} === ${JSON.stringify(before)}`)
        const later = yield* page.evaluate(`new Promise((resolve) => setTimeout(() => resolve(${label}), 500))`)
        assert.strictEqual(later, before)
        // A load in the meantime keeps no place for a button of this name.
        const other = `document.querySelector(".head [data-copy] span").textContent`
        yield* page.evaluate(`${other} = "Copied"`)
        yield* page.until(`${other} !== "Copied"`)
        assert.strictEqual(yield* page.evaluate(`document.querySelectorAll("[data-gone]").length`), 0)
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a message in WhatsApp stays as it was typed while its session is away, and leaves from no other session",
    () =>
      Effect.gen(function*() {
        const { at, key, node, page } = yield* visitor
        const sql = yield* SqlClient.SqlClient
        const chosen = yield* connectedSession(node.request, key)
        const away = sql`update whatsapp_sessions set status = 'disconnected' where id = ${chosen}`
        const refusedWith = (text: string) =>
          page.until(`document.querySelector(".problem") !== null && ${valueOf("content")} === ${JSON.stringify(text)}`)
        yield* page.open(`${at}/whatsapp/${chosen}/chats/15550100301`)
        yield* type(page, "content", "A long answer.")
        yield* away
        yield* page.click(submit)
        yield* refusedWith("A long answer.")
        yield* sql`update whatsapp_sessions set status = 'connected' where id = ${chosen}`
        const write = Effect.gen(function*() {
          yield* page.open(`${at}/send?channel=whatsapp`)
          yield* type(page, "session_id", String(chosen))
          yield* type(page, "to", "+15550100301")
          yield* type(page, "content", "Come at nine.")
        })
        yield* write
        yield* away
        yield* page.click(submit)
        yield* refusedWith("Come at nine.")
        yield* sql`update whatsapp_sessions set status = 'connected' where id = ${chosen}`
        yield* connectedSession(node.request, key)
        yield* write
        yield* away
        yield* page.click(submit)
        yield* refusedWith("Come at nine.")
        assert.strictEqual(yield* page.evaluate(valueOf("session_id")), "")
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a text of two lines has one character between them",
    () =>
      Effect.gen(function*() {
        const { at, key, node, page } = yield* visitor
        yield* page.open(`${at}/send?channel=sms`)
        yield* type(page, "to", "+250788123456")
        yield* type(page, "content", "One\nTwo")
        yield* page.click(submit)
        yield* page.until(titled("SMS to +250788123456"))
        const list = yield* node.request("GET", "/v1/sms/messages", { key })
        assert.deepStrictEqual(list.at("data", 0, "content"), { body: "One\nTwo" })
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a form may be as large as a template of the API, and a larger one says that it is too large",
    () =>
      Effect.gen(function*() {
        const { at, key, node, page } = yield* visitor
        // In an HTML comment, because a browser takes seconds to draw so many elements.
        const html = `<!-- ${"<p>".repeat(300_000)} -->`
        yield* page.open(`${at}/templates/new`)
        yield* type(page, "name", "Large")
        yield* type(page, "subject", "Large")
        yield* type(page, "html", html)
        yield* page.click(submit)
        yield* page.until(titled("Large"))
        const list = yield* node.request("GET", "/v1/email/templates", { key })
        const made = yield* node.request("GET", `/v1/email/templates/${list.at("data", 0, "id")}`, { key })
        assert.strictEqual(made.at("data", "html"), html)
        yield* page.open(`${at}/templates/new`)
        yield* type(page, "html", "<p>".repeat(1_500_000))
        yield* page.click(submit)
        yield* page.until(shows("This is too large. Shorten it."))
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a search of messages keeps the filter of a session that is gone",
    () =>
      Effect.gen(function*() {
        const { at, page } = yield* visitor
        yield* page.open(`${at}/messages?session_id=7`)
        yield* page.until(`document.querySelector("#filter-session_id")?.value === "7"`)
        yield* page.click("form.search button")
        yield* page.until(`location.search.includes("session_id=7") && location.search.includes("q=")`)
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a session is deleted by its name as the page shows it",
    () =>
      Effect.gen(function*() {
        const { at, key, node, page } = yield* visitor
        const { answer: made } = yield* createSession(node, key, "Shop  Kigali")
        yield* page.open(`${at}/whatsapp/${made.at("id")}/delete`)
        yield* type(page, "typed", "Shop Kigali")
        yield* page.click(submit)
        yield* page.until(said("The session was deleted."))
      })
  )
})
