/** The settings of an account in a real browser: a person changes its name, its address and its mails, and deletes it. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { chromium, openPage } from "../support/Chromium.ts"
import { ownerOf } from "../support/consolePeople.ts"
import { fieldNamed, look, said, shows, submit, titled, type } from "../support/look.ts"
import { makeAccount, Service } from "../support/Service.ts"

const password = "correct horse battery staple"

/** The form of a card. */
const formOf = (card: string) => `section[aria-labelledby=${card}] form.form`

const faultOf = (name: string) => `document.querySelector("#f-${name}-fault")?.textContent`

layer(Service.layer(), { excludeTestServices: true })("the settings of an account in the console", (it) => {
  it.effect.skipIf(chromium === undefined)(
    "an owner renames the account, asks for another address and takes it back, chooses its mails, and deletes it by the word",
    () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        // Another person can still sign in, so that the last page is the one to do so.
        yield* makeAccount({ password })
        const { accountId, email, key } = yield* makeAccount({ password })
        const { token } = yield* ownerOf(accountId)
        const get = (path: string) => node.request("GET", path, { key })
        const page = yield* openPage
        const origin = node.baseUrl.replace("127.0.0.1", "localhost")
        yield* page.command("Network.enable")
        yield* page.command("Network.setCookie", { name: "console", value: token, url: origin, httpOnly: true })
        yield* page.open(`${origin}/console/${accountId}/find?q=Account`)
        // The search leads to the only page of this name.
        yield* page.until(titled("Account"))
        yield* look(page, "account")

        yield* type(page, "name", " ")
        yield* page.click(`${formOf("name")} .buttons button`)
        yield* page.until(`${faultOf("name")} === "This field is required."`)
        yield* type(page, "name", "The shop")
        yield* page.click(`${formOf("name")} .buttons button`)
        yield* page.until(said("The name was saved."))
        assert.strictEqual((yield* get("/v1/account")).at("data", "name"), "The shop")

        yield* type(page, "email", "ada@")
        yield* page.click(`${formOf("address")} .buttons button`)
        yield* page.until(`${faultOf("email")}?.startsWith("Write an email address") === true`)
        yield* type(page, "email", `new-${email}`)
        yield* page.click(`${formOf("address")} .buttons button`)
        yield* page.until(said("A link was sent to the new address. Open it within 24 hours, and confirm."))
        yield* page.until(shows(`The new address new-${email} is not confirmed yet.`))
        yield* look(page, "account-pending")
        assert.strictEqual((yield* get("/v1/account")).at("data", "pending_email"), `new-${email}`)
        yield* page.click("section[aria-labelledby=address] form.inline button")
        yield* page.until(said("The address stays as it is."))
        assert.isNull((yield* get("/v1/account")).at("data", "pending_email"))

        yield* page.click(fieldNamed("weekly_digest"))
        yield* page.click(fieldNamed("usage_warnings"))
        yield* page.click(`${formOf("mails")} .buttons button:last-child`)
        yield* page.until(`document.querySelector("#command")?.textContent.includes('"weekly_digest": true') === true`)
        yield* page.click(`${formOf("mails")} .buttons button`)
        yield* page.until(said("The choice was saved."))
        const chosen = yield* get("/v1/account/notifications")
        assert.deepInclude(chosen.at("data"), { email_alerts: true, usage_warnings: false, weekly_digest: true })

        yield* page.click("section[aria-labelledby=delete] a.danger")
        yield* page.until(titled("Delete the account The shop?"))
        yield* sql`update login_sessions set proved_at = now() - interval '1 hour'`
        yield* page.open(`${origin}/console/${accountId}/settings/delete`)
        yield* page.until(shows("Messages of the last year"))
        const counts = yield* page.evaluate(
          `[...document.querySelectorAll("main .facts div")].map((one) => one.textContent).join(" ")`
        )
        assert.include(String(counts), "API keys1")
        yield* look(page, "account-delete")
        yield* type(page, "confirmation", "delete")
        yield* type(page, "_password", password)
        yield* page.click(submit)
        yield* page.until(`${faultOf("confirmation")} === "Type the word DELETE in capital letters."`)
        yield* type(page, "confirmation", "DELETE")
        yield* page.click(submit)
        yield* page.until(titled("Sign in"))
        yield* page.until(said("The account was deleted."))
        assert.strictEqual((yield* get("/v1/account")).status, 401)
        const cookies = yield* page.command("Network.getCookies", { urls: [`${origin}/console/`] })
        assert.notInclude(JSON.stringify(cookies), token)
      })
  )
})
