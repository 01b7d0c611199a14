/** The fault lab of the console: its card in a real browser, and what people of other roles see of it. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { chromium } from "../support/Chromium.ts"
import { signedInAs } from "../support/consolePeople.ts"
import { look, said, shows, visitor } from "../support/look.ts"
import { eventually, makeAccount, makeKey, Service } from "../support/Service.ts"

layer(Service.layer(), { excludeTestServices: true })("the fault lab of the console", (it) => {
  it.effect.skipIf(chromium === undefined)(
    "a person without scripts plans faults, the next mail bounces, and they clear the others",
    () =>
      Effect.gen(function*() {
        const { accountId, at, node, page } = yield* visitor
        const { key } = yield* makeKey(accountId, { mode: "test" })
        const scripts = (value: boolean) => page.command("Emulation.setScriptExecutionDisabled", { value: !value })
        yield* page.open(`${at}/test/sandbox`)
        yield* page.until(shows("No fault is planned."))
        yield* look(page, "fault-lab-empty")
        yield* scripts(false)
        for (const fault of ["email_bounce", "sms_lost"]) {
          yield* page.click(`form:has([name=fault][value=${fault}]) button`)
          yield* page.until(said("The fault is planned."))
        }
        yield* page.until(`document.querySelectorAll("ol[aria-labelledby=planned] li").length === 2`)
        const expiry = `document.querySelector("ol[aria-labelledby=planned] time").dateTime`
        assert.isAbove(Date.parse(String(yield* page.evaluate(expiry))), Date.now())
        yield* scripts(true)
        yield* look(page, "fault-lab")
        yield* scripts(false)
        const json = { to: "ada@example.com", subject: "Hello", text: "Hello" }
        const sent = yield* node.request("POST", "/v1/email/send", { key, json })
        yield* eventually(
          node.request("GET", `/v1/email/messages/${String(sent.at("data", "id"))}`, { key }),
          ({ at: field }) => field("data", "status") === "bounced"
        )
        yield* page.open(`${at}/test/sandbox`)
        yield* page.until(`document.querySelectorAll("ol[aria-labelledby=planned] li").length === 1`)
        yield* page.click("a[href$='/sandbox/faults/clear']")
        yield* page.until(`document.querySelectorAll("ol[aria-labelledby=planned] li").length === 1`)
        yield* page.click("form:has([value=clearFaults]) button")
        yield* page.until(said("No fault is planned any more."))
        yield* page.until(shows("No fault is planned."))
      })
  )

  it.effect("a person who may not send sees the planned faults and no button, and live mode has no fault lab", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { accountId } = yield* makeAccount()
      const { key } = yield* makeKey(accountId, { mode: "test" })
      yield* request("POST", "/v1/sandbox/faults", { key, json: { fault: "sms_lost" } })
      const open = (role: "owner" | "support", mode: string) =>
        Effect.flatMap(signedInAs(accountId, role), ({ cookie }) =>
          Effect.map(
            request("GET", `/console/${accountId}${mode}/sandbox`, { headers: { cookie } }),
            ({ text }) => text
          ))
      const owner = yield* open("owner", "/test")
      assert.include(owner, "Next SMS is lost")
      assert.include(owner, "value=\"planFault\"")
      assert.include(owner, `href="/console/${accountId}/test/sandbox/faults/clear"`)
      assert.include(owner, `href="/console/${accountId}/test/sandbox/clear"`)
      const support = yield* open("support", "/test")
      assert.include(support, "Next SMS is lost")
      assert.notInclude(support, "planFault")
      assert.notInclude(support, "/clear")
      assert.notInclude(yield* open("owner", ""), "fault-lab")
    }))

  it.effect("separate pages ask before the sandbox or the planned faults are cleared, in test mode alone", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { accountId } = yield* makeAccount()
      const { key } = yield* makeKey(accountId, { mode: "test" })
      yield* request("POST", "/v1/sandbox/faults", { key, json: { fault: "sms_lost" } })
      const { cookie } = yield* signedInAs(accountId, "owner")
      const open = (path: string) => request("GET", `/console/${accountId}${path}`, { headers: { cookie } })
      const sandbox = yield* open("/test/sandbox/clear")
      assert.include(sandbox.text, "Everything that the recipients of this account received in test mode is deleted.")
      assert.include(sandbox.text, "name=\"_action\" value=\"clear\"")
      const faults = yield* open("/test/sandbox/faults/clear")
      assert.include(faults.text, "Next SMS is lost")
      assert.include(faults.text, "name=\"_action\" value=\"clearFaults\"")
      assert.notInclude((yield* open("/test/sandbox")).text, "value=\"clear\"")
      for (const path of ["/sandbox/clear", "/sandbox/faults/clear"]) {
        assert.strictEqual((yield* open(path)).status, 404, path)
      }
    }))
})
