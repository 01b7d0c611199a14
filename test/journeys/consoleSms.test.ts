/** The page of SMS: a person finds the price of a country in a real browser, and sees how the carrier is reached. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Carrier } from "../support/Carrier.ts"
import { chromium } from "../support/Chromium.ts"
import { signedInAs } from "../support/consolePeople.ts"
import { look, shows, titled, visitor } from "../support/look.ts"
import { eventually, makeAccount, makeKey, Service } from "../support/Service.ts"
import { freshNumber, sendSms } from "../support/sms.ts"

layer(Service.layer({ env: { SMS_SENDER_IDS: "Shop,Store" } }), { excludeTestServices: true })(
  "SMS in the console",
  (it) => {
    it.effect.skipIf(chromium === undefined)(
      "a person reads who carries texts and from which senders, and finds a price by name and by number",
      () =>
        Effect.gen(function*() {
          const { at, page } = yield* visitor
          yield* page.open(`${at}/sms`)
          yield* page.until(titled("SMS"))
          yield* page.until(shows("Texts go to the sandbox."))
          yield* page.until(shows("Store"))
          yield* look(page, "sms")
          yield* page.open(`${at}/sms?q=rwan`)
          yield* page.until(`document.querySelectorAll("tbody tr").length === 1`)
          yield* page.until(shows("+250"))
          yield* page.open(`${at}/sms?q=%2B250788123456`)
          yield* page.until(`document.querySelectorAll("tbody tr").length === 1`)
          yield* page.until(shows("Rwanda"))
          yield* page.open(`${at}/sms?q=nowhere`)
          yield* page.until(shows("No country has this name or prefix."))
          yield* look(page, "sms-none")
        })
    )

    it.effect("the page says while a node cannot reach the carrier", () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { accountId } = yield* makeAccount()
        const { cookie } = yield* signedInAs(accountId, "owner")
        const page = Effect.map(
          request("GET", `/console/${accountId}/sms`, { headers: { cookie } }),
          ({ text }) => text
        )
        assert.notInclude(yield* page, "The carrier is away.")
        yield* sql`insert into upstream_outages (upstream) values ('carrier')`
        assert.include(yield* page, "The carrier is away.")
      }))
  }
)

layer(Carrier.withNode, { excludeTestServices: true })("SMS over a carrier in the console", (it) => {
  it.effect("the page has the state of the link, and the operator alone reads why the last one ended", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const smsc = yield* Carrier
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount()
      const [owner, operator] = [yield* signedInAs(accountId, "owner"), yield* signedInAs(accountId, "owner")]
      yield* sql`update people set is_operator = true where id = ${operator.personId}`
      const page = ({ cookie }: { readonly cookie: string }, mode = "") =>
        Effect.map(
          request("GET", `/console/${accountId}${mode}/sms`, { headers: { cookie } }),
          ({ text }) => text
        )
      const bound = yield* eventually(page(owner), (text) => text.includes(">connected</span>"))
      for (const text of ["<dd>7</dd>", "<dd>40 of 40</dd>"]) assert.include(bound, text)
      assert.notInclude(bound, "Last error")
      smsc.refuseBinds(0x0d)
      yield* smsc.cut
      const refused = "the bind was refused with status 0xd"
      const away = yield* eventually(page(operator), (text) => text.includes(refused))
      for (const text of [">not connected</span>", "Last error"]) assert.include(away, text)
      const shown = yield* eventually(page(owner), (text) => text.includes(">not connected</span>"))
      assert.notInclude(shown, refused)
      smsc.refuseBinds(0)
    }))

  it.effect("the page says that the bind is lost while an answer of the carrier over it is still awaited", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const smsc = yield* Carrier
      const { accountId, key } = yield* makeAccount()
      const { cookie } = yield* signedInAs(accountId, "owner")
      const page = Effect.map(
        node.request("GET", `/console/${accountId}/sms`, { headers: { cookie } }),
        ({ text }) => text
      )
      yield* eventually(page, (text) => text.includes(">connected</span>"))
      // The first text gets its answer late. At the second one the carrier says that it has forgotten the bind.
      const first = smsc.submits.length
      smsc.answer((_, index) => index === first ? { afterMillis: 9_000 } : { status: index === first + 1 ? 0x04 : 0 })
      const id = yield* sendSms(node, key, { to: freshNumber(), content: "One" })
      yield* smsc.until(({ submits }) => submits.length === first + 1)
      yield* sendSms(node, key, { to: freshNumber(), content: "Two" })
      yield* eventually(page, (text) => text.includes(">not connected</span>"))
      const { at } = yield* node.request("GET", `/v1/sms/messages/${id}`, { key })
      assert.strictEqual(at("data", "status"), "queued")
    }))

  it.effect("in test mode the page says that texts go to the sandbox, and shows no link", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { accountId } = yield* makeAccount()
      yield* makeKey(accountId, { mode: "test" })
      const { cookie } = yield* signedInAs(accountId, "owner")
      const { text } = yield* request("GET", `/console/${accountId}/test/sms`, { headers: { cookie } })
      assert.include(text, "In test mode, texts go to the sandbox.")
      assert.notInclude(text, "Connection to the carrier")
    }))
})
