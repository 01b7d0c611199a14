/** One-time codes in a real browser: a person sends a code, enters a wrong one and the right one, and releases numbers. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { chromium } from "../support/Chromium.ts"
import { sendCode } from "../support/codes.ts"
import { look, said, shows, submit, titled, type, visitor } from "../support/look.ts"
import { makeKey, Service } from "../support/Service.ts"

layer(Service.layer(), { excludeTestServices: true })("one-time codes in the console", (it) => {
  it.effect.skipIf(chromium === undefined)(
    "a person who sends a code too early sees the seconds until the next one count down",
    () =>
      Effect.gen(function*() {
        const { at, key, node, page } = yield* visitor
        yield* sendCode(node, { key, json: { to: "+250788123457" } })
        yield* page.open(`${at}/verify/new`)
        yield* type(page, "to", "+250788123457")
        yield* page.click(submit)
        const wait = `document.querySelector(".problem [role=timer]")`
        yield* page.until(`${wait} !== null`)
        const first = yield* page.evaluate(`${wait}.textContent`)
        assert.match(String(first), /^Try again in \d+ seconds\.$/)
        yield* page.until(
          `/^Try again in \\d+ seconds\\.$/.test(${wait}.textContent) && ${wait}.textContent !== ${
            JSON.stringify(first)
          }`
        )
        // The end of the wait, which is up to 30 seconds away.
        yield* page.evaluate("Date.now = () => Infinity")
        yield* page.until(`${wait} === null && ${shows("Too many codes were sent")}`)
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a person sends a code in test mode, reads it beside the page, enters a wrong and the right one, and finds it by its status",
    () =>
      Effect.gen(function*() {
        const { accountId, at, page } = yield* visitor
        yield* makeKey(accountId, { mode: "test" })
        yield* page.open(`${at}/test/verify`)
        yield* page.until(shows("No one-time codes yet"))
        yield* look(page, "codes-empty")
        yield* page.click("main .empty a.main")
        yield* page.until(titled("Send a code"))
        yield* type(page, "to", "call me")
        yield* page.click(submit)
        yield* page.until(`document.querySelector("#f-to[aria-invalid]") !== null`)
        yield* look(page, "code-send")
        yield* type(page, "to", "+250788123456")
        yield* type(page, "channel", "sms")
        yield* type(page, "brand_name", "Acme <b>")
        yield* page.click(submit)
        yield* page.until(said("The code was sent."))
        yield* page.until(titled("One-time code to +250788123456"))
        // The page loads itself again.
        yield* page.until(shows("Your code is"))
        const words = String(yield* page.evaluate(`document.querySelector(".received .words").textContent`))
        const code = /\d{6}/.exec(words)?.[0] ?? ""
        assert.include(words, "Acme <b>")
        yield* look(page, "code")
        yield* type(page, "code", code === "000000" ? "000001" : "000000")
        yield* page.click(submit)
        yield* page.until(`document.querySelector("#f-code[aria-invalid]") !== null`)
        yield* page.until(shows("The code is wrong."))
        yield* look(page, "code-wrong")
        yield* type(page, "code", code)
        yield* page.click(submit)
        yield* page.until(said("The code is correct."))
        yield* page.until(shows("The correct code was entered"))
        yield* page.until(`document.querySelector("#f-code") === null`)
        yield* page.until(`document.querySelector(".timeline").textContent.includes("confirmed")`)
        yield* look(page, "code-confirmed")
        yield* page.open(`${at}/test/verify?status=pending&from_date=2020-01-01T00:00:00Z`)
        yield* page.until(shows("No one-time code matches"))
        yield* page.click(".chips a")
        yield* page.until(`document.querySelectorAll("tbody tr").length === 1`)
        yield* page.click(".filter summary")
        yield* page.evaluate(`document.querySelector("#filter-status").value = "approved"`)
        yield* page.click("form.search button")
        yield* page.until(`location.search.includes("status=approved")`)
        yield* page.until(`location.search.includes("from_date=2020-01-01")`)
        yield* page.until(`document.querySelectorAll("tbody tr").length === 1`)
        yield* look(page, "codes")
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a person goes from the overview to blocked numbers, and releases them",
    () =>
      Effect.gen(function*() {
        const { accountId, at, page } = yield* visitor
        const sql = yield* SqlClient.SqlClient
        yield* sql`insert into verification_blocks (account_id, prefix, until)
          values (${accountId}, '+25078811', now() + interval '11 hours')`
        yield* page.open(`${at}/`)
        yield* page.until(shows("Codes to numbers that begin with +25078811 are held back as likely fraud."))
        yield* page.click(".attention a[href$='/verify/blocks']")
        yield* page.until(titled("Blocked numbers"))
        yield* look(page, "code-blocks")
        yield* page.click("tbody form button")
        yield* page.until(said("The numbers get codes again."))
        yield* page.until(shows("No number is blocked"))
        yield* look(page, "code-blocks-empty")
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a person reads how many codes were confirmed, by country and channel, and chooses another time",
    () =>
      Effect.gen(function*() {
        const { at, key, node, page } = yield* visitor
        const sql = yield* SqlClient.SqlClient
        yield* page.open(`${at}/verify/figures`)
        yield* page.until(shows("No code was sent in this time"))
        yield* look(page, "code-figures-empty")
        const { id } = yield* sendCode(node, { key, json: { to: "+250788123459" } })
        yield* sendCode(node, { key, json: { to: "ada@example.com", channel: "email" } })
        yield* sql`update verifications set status = 'approved', verified_at = created_at + interval '42 seconds',
          ended_at = now() where id = ${id}`
        yield* page.open(`${at}/verify`)
        yield* page.click("main a[href$='/verify/figures']")
        yield* page.until(titled("Figures"))
        yield* page.until(shows("42 seconds"))
        yield* page.until(`document.querySelector("tbody").textContent.includes("Rwanda")`)
        yield* page.until(`document.querySelectorAll("tbody tr").length === 2`)
        yield* look(page, "code-figures")
        yield* sql`update verifications set created_at = now() - interval '2 days' where id = ${id}`
        yield* page.click("main a[href*='range=24h']")
        yield* page.until(`document.querySelectorAll("tbody tr").length === 1`)
      })
  )
})
