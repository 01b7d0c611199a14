/** The page of SMS in a real browser: a person finds the price of a country. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { chromium } from "../support/Chromium.ts"
import { look, shows, titled, visitor } from "../support/look.ts"
import { Service } from "../support/Service.ts"

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
  }
)
