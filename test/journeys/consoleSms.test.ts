/** The page of SMS in a real browser: a person finds the price of a country. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { chromium } from "../support/Chromium.ts"
import { signedInAs } from "../support/consolePeople.ts"
import { look, shows, titled, visitor } from "../support/look.ts"
import { makeAccount, Service } from "../support/Service.ts"

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
