/** The overview in a real browser: what is wrong, what to do first, and the numbers. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeFs from "node:fs"
import { assertAccessible } from "../support/axe.ts"
import { type BrowserPage, chromium, openPage } from "../support/Chromium.ts"
import { ownerOf } from "../support/consolePeople.ts"
import { makeAccount, Service } from "../support/Service.ts"

const has = (text: string) => `document.querySelector("main")?.textContent.includes(${JSON.stringify(text)}) === true`

/** Pictures for people who look at the pages: `CONSOLE_PICTURES` names their folder. */
const pictures = process.env["CONSOLE_PICTURES"]

const look = Effect.fnUntraced(function*(page: BrowserPage, name: string) {
  yield* assertAccessible(page)
  if (pictures === undefined) return
  for (const [width, scheme] of [[1280, "light"], [360, "dark"]] as const) {
    yield* page.command("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] })
    const metrics = { width, height: 800, deviceScaleFactor: 1, mobile: false }
    yield* page.command("Emulation.setDeviceMetricsOverride", metrics)
    const shot = yield* page.command("Page.captureScreenshot", { format: "png", captureBeyondViewport: true })
    const { data } = shot as { readonly data: string }
    NodeFs.writeFileSync(`${pictures}/${name}-${width}-${scheme}.png`, Buffer.from(data, "base64"))
  }
})

/** The owner of a new account, signed in to the console. */
const visit = Effect.fnUntraced(function*() {
  const node = yield* Service
  const { accountId, key } = yield* makeAccount()
  const { token } = yield* ownerOf(accountId)
  const page = yield* openPage
  yield* page.command("Network.enable")
  yield* page.command("Network.setCookie", { name: "console", value: token, url: node.baseUrl })
  const at = (path: string) => page.open(`${node.baseUrl}/console/${accountId}${path}`)
  return { node, accountId, key, page, at }
})

layer(Service.layer(), { excludeTestServices: true })("the overview in a browser", (it) => {
  it.effect.skipIf(chromium === undefined)(
    "a person sees what is wrong first, ends it with one click, and reads today's numbers",
    () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { accountId, at, key, node, page } = yield* visit()
        yield* at("/")
        yield* page.until(has("The owner signs in with a password alone."))
        yield* page.until(has("Send a first message"))
        yield* look(page, "overview-new")

        const json = { url: "https://shop.example/hooks", events: ["*"] }
        yield* node.request("POST", "/v1/webhooks", { key, json })
        yield* Effect.orDie(
          sql`update webhooks set unhealthy_reason = 'gone', failing_since = now() where account_id = ${accountId}`
        )
        yield* Effect.orDie(
          sql`insert into message_stats (account_id, hour, channel, outcome, reason, count)
            select ${accountId}, date_trunc('hour', now()) - h * interval '1 hour', channel, outcome, '',
              10 + (h * 7919 + length(channel || outcome) * 131) % 97
            from generate_series(0, 24 * 40) as h, unnest(array['email', 'sms', 'whatsapp']) as channel,
              unnest(array['accepted', 'sent', 'delivered', 'failed']) as outcome`
        )
        yield* at("/?range=30d")
        yield* page.until(has("The webhook https://shop.example/hooks is unhealthy."))
        assert.strictEqual(yield* page.evaluate(`document.querySelectorAll(".plot rect").length > 60`), true)
        yield* look(page, "overview-full")
        yield* page.click(".attention form button")
        yield* page.until(`location.pathname.includes("/webhooks/")`)
        yield* page.until(has("The webhook is active."))
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a person reads the usage with the bars of the quotas",
    () =>
      Effect.gen(function*() {
        const { at, key, node, page } = yield* visit()
        yield* at("/usage")
        yield* page.until(has("No usage in this period"))
        yield* look(page, "usage-empty")
        yield* node.request("POST", "/v1/sms/send", { key, json: { to: "+250788123456", content: "Hello" } })
        yield* node.request("POST", "/v1/email/send", {
          key,
          json: { to: "a@example.com", subject: "=2+3", text: "Hi" }
        })
        yield* at("/usage")
        yield* page.until(has("SMS segments"))
        yield* look(page, "usage")
        yield* page.click(".tabs a[href*='granularity=month']")
        yield* page.until(`document.querySelector(".tabs a[aria-current]")?.textContent === "Months"`)
        yield* page.evaluate(`document.querySelector("#f-from_date").value = "2020-01-01"`)
        yield* page.evaluate(`document.querySelector("#f-to_date").value = "2020-12-31"`)
        yield* page.click(".filter button")
        yield* page.until(has("No usage in this period"))
        assert.include(
          String(yield* page.evaluate("location.search")),
          "from_date=2020-01-01&to_date=2020-12-31&granularity=month"
        )
        yield* page.evaluate(`document.querySelector("#f-to_date").value = "2019-12-31"`)
        yield* page.click(".filter button")
        yield* page.until(has("This period is not valid."))
        yield* look(page, "usage-wrong")
      })
  )

  it.effect("a person exports the usage, and the messages of a filter, without a formula among the cells", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { accountId, key } = yield* makeAccount()
      const { cookie } = yield* ownerOf(accountId)
      for (const subject of ["=HYPERLINK(1)", "Hello, Ada"]) {
        yield* request("POST", "/v1/email/send", { key, json: { to: "ada@example.com", subject, text: "Hi" } })
      }
      yield* request("POST", "/v1/sms/send", { key, json: { to: "+250788123456", content: "Hello" } })
      const file = (path: string) => request("GET", `/console/${accountId}${path}`, { headers: { cookie } })
      const messages = yield* file("/messages?channel=email&format=csv")
      assert.strictEqual(messages.headers["content-type"], "text/csv; charset=utf-8")
      assert.strictEqual(messages.headers["content-disposition"], "attachment; filename=\"messages.csv\"")
      const lines = messages.text.trimEnd().split("\r\n")
      assert.strictEqual(lines.length, 3, messages.text)
      assert.match(lines[0] ?? "", /^id,channel,direction,status,from,to,/)
      assert.include(lines[1] ?? "", ",ada@example.com,\"Hello, Ada\",")
      assert.include(lines[2] ?? "", ",\"'=HYPERLINK(1)\",")
      const usage = yield* file("/usage?format=csv")
      assert.match(usage.text, /\n\d{4}-\d\d-\d\d,sms,1,0\r\n/)
      const sql = yield* SqlClient.SqlClient
      yield* sql`update usage_daily set day = '2025-11-30' where account_id = ${accountId} and metric = 'email'`
      const past = "from_date=2025-10-01&to_date=2025-12-01"
      const months = yield* file(`/usage?${past}&granularity=month&format=csv`)
      assert.strictEqual(months.text, "date,metric,count,cost_usd\r\n2025-11-01,email,2,0\r\n")
      const shown = yield* file(`/usage?${past}`)
      assert.include(shown.text, `/v1/account/usage/daily?${past.replace("&", "&amp;")}`)
      assert.include(shown.text, `href="/console/${accountId}/usage?${past.replace("&", "&amp;")}&amp;format=csv"`)
    }))
})
