/**
 * The bars that hold for each page of the console, in a real browser: what WCAG 2.2 AA asks for, no sideways scrolling, no
 * shift of the layout, and its weight. Each page is seen in one language, theme and width, in turn; by `npm run faults` in
 * all of them. A new page needs nothing here.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { assets } from "../../src/console/assets/Assets.ts"
import { places } from "../../src/console/pages/pages.ts"
import type { AccountId } from "../../src/values/Ids.ts"
import { Locale } from "../../src/values/Locale.ts"
import { rounds } from "../faults/inTime.ts"
import { assertAccessibleIn, look, type View } from "../support/axe.ts"
import { type BrowserPage, chromium, openPage } from "../support/Chromium.ts"
import { everyPage, fillAccount } from "../support/consolePages.ts"
import { signedInAs } from "../support/consolePeople.ts"
import { fiftyRows } from "../support/fiftyRows.ts"
import { makeAccount, Service } from "../support/Service.ts"
import { assertThemes } from "../support/themes.ts"

/** kB over the wire of a page alone, and of the first page with the files beside it. */
const ownWeight = 15
const firstWeight = 60
const weights = { style: 12, script: 20, icons: 6 } as const

const views = Locale.literals.flatMap((locale) =>
  [320, 1000, 1280].flatMap((width) => (["light", "dark"] as const).map((scheme) => ({ locale, width, scheme })))
)

/** Coprime to the number of views, so that neighbours in the list of pages are seen in different ones. */
const step = 7

const viewsOf = (index: number) => rounds > 1 ? views : views.slice((index * step) % views.length).slice(0, 1)

/** What a browser loads for a page beside it. */
const filesOf = (markup: string) =>
  [...markup.matchAll(
    /<(?:link|script|img|use|iframe|source|video|audio|embed|object)\b[^>]*?\s(?:src|href|data)="([^"#][^"#]*)/g
  )]
    .map(([, file = ""]) => file)

/** The frame of a mail, and pictures within the page. */
const isWithin = (file: string) => /^(?:\/console\/.*(?:\/frame(?:\?|$)|\?draft$)|data:)/.test(file)

/** Other views of a page, such as another range of time, that the page leads to. */
const viewsOfItself = (markup: string, path: string) =>
  [...markup.matchAll(/href="([^"?]*)\?([^"#]*)/g)].flatMap(([, to = "", query = ""]) =>
    to.replace(/\/$/, "") === path.replace(/\/$/, "") && !query.includes("format=")
      ? [`${to}?${query.replaceAll("&amp;", "&")}`]
      : []
  )

/** Each channel with each outcome on each day, for the graphs. */
const ninetyDays = Effect.fnUntraced(function*(accountId: AccountId) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into message_stats (account_id, hour, channel, outcome, reason, count)
    select ${accountId}::bigint, date_trunc('hour', now()) - days * interval '1 day', channel, outcome, '', 1000 + days * 7
    from generate_series(1, 90) days, unnest(array['email', 'sms', 'whatsapp']) channel,
      unnest(array['accepted', 'sent', 'delivered', 'failed']) outcome`
})

const shift = `new Promise((resolve) => {
  let sum = 0
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value
  }).observe({ type: "layout-shift", buffered: true })
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)))
})`

const check = Effect.fnUntraced(
  function*(page: BrowserPage, address: string, { isSlow, ...view }: View & { isSlow: boolean }) {
    yield* look(page, view)
    // A slow browser would paint half a page, and move it when it has read the rest.
    yield* page.command("Emulation.setCPUThrottlingRate", { rate: isSlow ? 6 : 1 })
    yield* page.open(address)
    assert.strictEqual(yield* page.evaluate(shift), 0, `${address} moves after its first paint`)
    yield* page.command("Emulation.setCPUThrottlingRate", { rate: 1 })
    yield* assertAccessibleIn(page, view)
    yield* assertThemes(page, view)
  }
)

layer(Service.layer(), { excludeTestServices: true })("every page of the console", (it) => {
  it.effect.skipIf(chromium === undefined)(
    "has no fault for people with disabilities, scrolls in one direction alone, stays where it was painted, and keeps its meaning in forced colours",
    () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { accountId, key } = yield* makeAccount()
        const { cookie, token } = yield* signedInAs(accountId, "owner")
        yield* fillAccount(key)
        const found = yield* everyPage({ accountId, cookie, query: "" })
        const page = yield* openPage
        yield* page.command("Network.enable")
        yield* page.command("Network.setCookie", { name: "console", value: token, url: node.baseUrl })
        // The frame of a mail has the markup of its author, and runs no scripts.
        const own = [...found].filter(([, text]) => text.includes("<main")).map(([path]) => path)
        assert.isAbove(own.length, found.size - 10)
        for (const [index, path] of own.entries()) {
          for (const { locale, ...view } of viewsOf(index)) {
            yield* check(page, `${node.baseUrl}${path}?lang=${locale}`, { ...view, isSlow: index % 16 === 0 })
          }
        }
      }),
    900_000 * rounds
  )

  it.effect("weighs at most 15 kB over the wire, and 60 kB with the three files that the first page loads", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { accountId, key } = yield* makeAccount()
      const { cookie } = yield* signedInAs(accountId, "owner")
      yield* fillAccount(key)
      for (const name of ["style", "script", "icons"] as const) {
        assert.isBelow(assets[name]().gzip.length, weights[name] * 1_000, name)
      }
      assert.notMatch(Buffer.from(assets.style().plain).toString(), /url\(|@font-face|@import/)
      const beside = new Set([...Object.values(assets).map((asset) => asset().path), "/favicon.svg"])
      const files = Object.values(assets).reduce((sum, asset) => sum + asset().gzip.length, 0)
      const weigh = Effect.fnUntraced(function*(path: string) {
        const { headers } = yield* request("GET", path, { headers: { cookie, "accept-encoding": "gzip" } })
        assert.strictEqual(headers["content-encoding"], "gzip", path)
        const weight = Number(headers["content-length"])
        assert.isBelow(weight, ownWeight * 1_000, path)
        assert.isBelow(weight + files, firstWeight * 1_000, path)
      })
      const seen = new Set<string>()
      /** With the other views of the first page of its kind. */
      const weighAll = Effect.fnUntraced(function*(path: string, text: string) {
        const kind = path.replaceAll(/[^/]*\d[^/]*/g, ":id")
        const views = seen.has(kind) ? [] : viewsOfItself(text, path)
        seen.add(kind)
        for (const view of new Set([path, ...views])) {
          yield* weigh(`${view}${view.includes("?") ? "&" : "?"}lang=ar`)
        }
      })
      const found = yield* everyPage({ accountId, cookie, query: "" })
      for (const [path, text] of found) {
        yield* weighAll(path, text)
        if (path.endsWith("/frame")) continue
        for (const file of filesOf(text)) assert.isTrue(beside.has(file) || isWithin(file), `${path} loads ${file}`)
      }
      const { session } = yield* fiftyRows(accountId, key)
      yield* ninetyDays(accountId)
      seen.clear()
      const at = `/console/${accountId}`
      const lists = [...places.map(({ path }) => path), `/whatsapp/${session}/contacts`, "/verify/figures"]
      for (const list of lists.map((path) => `${at}${path}`)) {
        const { text } = yield* request("GET", list, { headers: { cookie } })
        yield* weighAll(list, text)
      }
    }))
})
