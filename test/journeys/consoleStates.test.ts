/**
 * The lists of the console without a row and with 50 rows, and every page from right to left with longer texts, in a real
 * browser: what WCAG 2.2 AA asks for, and no sideways scrolling. Each page is seen in one language, theme and width, in
 * turn; by `npm run faults` in all of them.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { places } from "../../src/console/pages/pages.ts"
import { Locale } from "../../src/values/Locale.ts"
import { rounds } from "../faults/inTime.ts"
import { assertAccessibleIn, look, type View } from "../support/axe.ts"
import { type BrowserPage, chromium, openPage } from "../support/Chromium.ts"
import { everyPage, fillAccount } from "../support/consolePages.ts"
import { signedInAs } from "../support/consolePeople.ts"
import { fiftyRows } from "../support/fiftyRows.ts"
import { makeAccount, Service } from "../support/Service.ts"

const languages = rounds > 1 ? [...Locale.literals, "pseudo-rtl"] : ["en", "ar", "de", "pseudo-rtl"]

const views = languages.flatMap((lang) =>
  [320, 1280].flatMap((width) => (["light", "dark"] as const).map((scheme) => ({ lang, width, scheme })))
)

/** Coprime to the number of views of one round. */
const step = 5

const viewsOf = (index: number) => rounds > 1 ? views : views.slice((index * step) % views.length).slice(0, 1)

const check = Effect.fnUntraced(
  function*(page: BrowserPage, address: string, { lang, ...view }: View & { lang: string }) {
    yield* look(page, view)
    yield* page.open(`${address}?lang=${lang}`)
    yield* assertAccessibleIn(page, view)
  }
)

/** A person of a new account, and the addresses of the pages of the navigation. */
const visit = Effect.gen(function*() {
  const node = yield* Service
  const { accountId, key } = yield* makeAccount()
  const { cookie, token } = yield* signedInAs(accountId, "owner")
  const page = yield* openPage
  yield* page.command("Network.enable")
  yield* page.command("Network.setCookie", { name: "console", value: token, url: node.baseUrl })
  const at = `${node.baseUrl}/console/${accountId}`
  return { accountId, at, cookie, key, node, page, lists: places.map(({ path }) => `${at}${path}`) }
})

layer(Service.layer(), { excludeTestServices: true })("states of the console's pages", (it) => {
  it.effect.skipIf(chromium === undefined)(
    "a list without a row has no fault for people with disabilities, in every part of the navigation",
    () =>
      Effect.gen(function*() {
        const { at, lists, page } = yield* visit
        for (const [index, address] of [...lists, `${at}/verify/blocks`, `${at}/verify/figures`].entries()) {
          for (const view of viewsOf(index)) yield* check(page, address, view)
        }
      }),
    300_000 * rounds
  )

  it.effect.skipIf(chromium === undefined)(
    "a list of 50 rows with long words and both directions has none, and scrolls in one direction alone",
    () =>
      Effect.gen(function*() {
        const { accountId, at, key, lists, page } = yield* visit
        const { session } = yield* fiftyRows(accountId, key)
        const rows = page.evaluate(`document.querySelectorAll("main tbody tr").length`)
        const long = ["messages", "batches", "suppressions", "keys", "webhooks", "requests", "verify"]
        for (
          const [index, address] of [...lists, `${at}/whatsapp/${session}/contacts`, `${at}/verify/figures`].entries()
        ) {
          for (const view of viewsOf(index + 1)) {
            yield* check(page, address, view)
            const name = address.slice(at.length + 1)
            if (long.includes(name) || name.endsWith("contacts")) assert.isAtLeast(Number(yield* rows), 25, address)
          }
        }
      }),
    300_000 * rounds
  )

  it.effect.skipIf(chromium === undefined)(
    "every page has room for texts that are 40 % longer, from right to left",
    () =>
      Effect.gen(function*() {
        const { accountId, cookie, key, node, page } = yield* visit
        yield* fillAccount(key)
        const found = yield* everyPage({ accountId, cookie, query: "?lang=pseudo-rtl" })
        for (const [index, [path, text]] of [...found].entries()) {
          if (path.endsWith("/frame")) continue
          assert.include(text, `dir="rtl"`, path)
          if (rounds === 1 && index % 3 !== 0) continue
          yield* check(page, `${node.baseUrl}${path}`, { lang: "pseudo-rtl", width: 320, scheme: "light" })
        }
      }),
    300_000 * rounds
  )
})
