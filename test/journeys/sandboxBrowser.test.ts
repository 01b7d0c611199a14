/** The sandbox's pages in a real browser: a person clicks through the tabs, and axe checks every page. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { assertAccessible, look } from "../support/axe.ts"
import { sendBulk } from "../support/bulkMail.ts"
import { type BrowserPage, chromium, openPage } from "../support/Chromium.ts"
import { mailTo } from "../support/sandboxMails.ts"
import { eventually, makeAccount, type RunningNode, sandboxToken, Service } from "../support/Service.ts"
import { sendSms } from "../support/sms.ts"
import { createSession, untilConnected } from "../support/WhatsApp.ts"

const contains = (selector: string, text: string) =>
  `[...document.querySelectorAll(${JSON.stringify(selector)})].some((one) => one.textContent.includes(${
    JSON.stringify(text)
  }))`

/** Writes into a field. Like a person's, its focus keeps the part of the page from being replaced. */
const write = (page: BrowserPage, selector: string, text: string) => {
  const field = `document.querySelector(${JSON.stringify(selector)})`
  return page.evaluate(`${field}.focus(), ${field}.value = ${JSON.stringify(text)}`)
}

const sendMail = (node: RunningNode, key: string, subject: string) =>
  node.request("POST", "/v1/email/send", {
    key,
    json: {
      to: "ada@example.com",
      subject,
      html: "<h1>Thank you</h1><a href=\"https://shop.example/1\">Order</a><script>document.title = 'run'</script>",
      attachments: [{ filename: "invoice.txt", content: "SGVsbG8=", content_type: "text/plain" }]
    }
  })

const readsMail = Effect.fnUntraced(function*(page: BrowserPage, node: RunningNode, key: string) {
  yield* sendMail(node, key, "First receipt")
  yield* page.open(`${node.baseUrl}/sandbox?token=${sandboxToken}`)
  // The list shows new mail by itself, and the address hides the token.
  yield* page.until(contains(".mails .unread", "First receipt"))
  assert.strictEqual(yield* page.evaluate("location.search"), "")
  yield* sendMail(node, key, "Second receipt")
  yield* page.until(contains(".mails .unread", "Second receipt"))
  yield* page.until("document.title === '(2) Mail · Sandbox'")
  yield* assertAccessible(page)
  yield* page.click(".mails a")
  yield* page.until(contains("h1", "Second receipt"))
  // The frame runs no script and cannot be read.
  yield* page.until("document.querySelector('iframe') !== null && document.readyState === 'complete'")
  assert.strictEqual(yield* page.evaluate("document.querySelector('iframe').contentDocument"), null)
  yield* assertAccessible(page)
  const width = Effect.map(page.evaluate("document.querySelector('iframe').clientWidth"), Number)
  yield* look(page, { width: 1280, scheme: "light" })
  assert.isAbove(yield* width, 768)
  yield* page.click("[for=width-tablet]")
  assert.strictEqual(yield* width, 768)
  yield* page.click("[for=width-phone]")
  assert.strictEqual(yield* width, 375)
  for (
    const [tab, text] of [["links", "https://shop.example/1"], ["files", "invoice.txt"], ["headers", "Message-ID"]]
  ) {
    yield* page.click(`[for=show-${tab}]`)
    yield* page.until(contains(`.panel.${tab}`, text ?? ""))
    assert.strictEqual(yield* page.evaluate(`document.querySelector(".panel.${tab}").checkVisibility()`), true)
    yield* assertAccessible(page)
  }
  yield* page.click("button.danger")
  yield* page.until(`${contains(".mails", "First receipt")} && !${contains(".mails", "Second receipt")}`)
  yield* page.click("#delete-all summary")
  yield* page.click("#delete-all button")
  yield* page.until(contains(".empty", "No mail yet"))
  yield* assertAccessible(page)
})

/** A word without a place to break, and a text of the greatest length. */
const longTexts = [`${"w".repeat(400)} end`, `${"A long text goes on and on. ".repeat(50)}It ends here.`]

/** What hides a part of a text: a box that is too small, an ellipsis, a limit of lines, or the window's edge. */
const clipped = `[...document.querySelectorAll(".sms .text")].filter((text) => {
  const { lineClamp, maxHeight, textOverflow, webkitLineClamp } = getComputedStyle(text)
  const { left, right } = text.getBoundingClientRect()
  return text.scrollWidth > text.clientWidth || text.scrollHeight > text.clientHeight || textOverflow === "ellipsis"
    || webkitLineClamp !== "none" || maxHeight !== "none" || left < 0 || right > innerWidth
}).length`

/** Reads each SMS whole, in the list and on its page. */
const readsWholeSms = Effect.fnUntraced(function*(page: BrowserPage, node: RunningNode, key: string) {
  const ids: Array<number> = []
  for (const content of longTexts) ids.push(yield* sendSms(node, key, { to: "+250788123457", content }))
  const paths = ["/sandbox/sms", ...ids.map((id) => `/sandbox/sms/${id}`)]
  for (const [index, path] of paths.entries()) {
    const shown = index === 0 ? longTexts : longTexts.slice(index - 1, index)
    yield* page.open(`${node.baseUrl}${path}`)
    for (const content of shown) yield* page.until(contains(".sms .text", content))
    for (const width of [360, 1280]) {
      yield* look(page, { width, scheme: "light" })
      assert.strictEqual(yield* page.evaluate(clipped), 0, `${path} ${width}`)
    }
    yield* assertAccessible(page)
  }
})

const readsSms = Effect.fnUntraced(function*(page: BrowserPage, node: RunningNode, key: string) {
  yield* page.click(".parts a[href='/sandbox/sms']")
  yield* page.until(contains(".empty", "No SMS yet"))
  const content = `Your order is ready. ${"x".repeat(150)} https://shop.example/1`
  yield* sendSms(node, key, { to: "+250788123456", content })
  yield* page.until(contains(".sms .text", content))
  yield* page.until(contains(".sms .pill", "delivered"))
  yield* page.click("#hints summary")
  yield* assertAccessible(page)
})

const chats = Effect.fnUntraced(function*(page: BrowserPage, node: RunningNode, key: string) {
  const { id } = yield* createSession(node, key, "Shop")
  yield* page.click(".parts a[href='/sandbox/phones']")
  yield* page.until(contains("#pending", "Shop"))
  yield* assertAccessible(page)
  yield* write(page, "#pending [name=number]", "15550300100")
  yield* page.click("#pending button")
  yield* page.until(contains("h1", "15550300100"))
  yield* untilConnected(node, key, id, () =>
    node.request("POST", "/sandbox/phones/scan", {
      body: `session=${id}&number=15550300100`,
      headers: { "content-type": "application/x-www-form-urlencoded" }
    }))
  const send = (to: string, body: string) =>
    node.request("POST", "/v1/whatsapp/send", { key, json: { session_id: id, to, type: "text", content: { body } } })
  yield* send("+15550300101", "Hello *you*")
  const phone = node.request("GET", "/sandbox/phones/15550300101", { headers: { accept: "application/json" } })
  yield* eventually(phone, ({ at }) => at("data", "messages", 0, "text") === "Hello *you*")
  yield* page.open(`${node.baseUrl}/sandbox/phones/15550300101?chat=15550300100`)
  yield* page.until(contains(".bubble strong", "you"))
  // The reader writes while another message arrives.
  yield* write(page, ".composer [name=text]", "Thank you")
  yield* send("+15550300101", "Second")
  yield* page.until(contains(".bubble", "Second"))
  // Clicks that follow each other send it once.
  yield* page.evaluate(`for (const after of [0, 5, 10, 15]) {
    setTimeout(() => document.querySelector(".composer button.main").click(), after)
  }`)
  yield* page.until(contains(".own .bubble", "Thank you"))
  yield* page.click(".react summary")
  yield* page.click(".react[open] button[value='👍']")
  yield* page.until(contains(".reactions", "👍"))
  assert.strictEqual(yield* page.evaluate(`document.querySelectorAll(".own .bubble").length`), 1)
  yield* page.click(".react summary")
  yield* assertAccessible(page)
  yield* page.click(".react[open] a")
  yield* page.until(contains(".answered", "Hello *you*"))
  yield* assertAccessible(page)
})

layer(Service.layer(), { excludeTestServices: true })("sandbox in a browser", (it) => {
  it.effect.skipIf(chromium === undefined)(
    "a person reads mail, SMS and chats that arrive, and axe finds no violation on any page",
    () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const page = yield* openPage
        yield* readsMail(page, node, key)
        yield* readsSms(page, node, key)
        yield* readsWholeSms(page, node, key)
        yield* chats(page, node, key)
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "axe finds no violation on the page of one SMS, on the sandbox's refusals, on / in production and on /u/…",
    () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { key } = yield* makeAccount()
        const page = yield* openPage
        const status = `performance.getEntriesByType("navigation")[0].responseStatus`
        const checks = Effect.fnUntraced(function*(path: string, expected: number, heading: RegExp) {
          yield* page.open(`${node.baseUrl}${path}`)
          assert.strictEqual(yield* page.evaluate(status), expected, path)
          assert.match(String(yield* page.evaluate(`document.querySelector("h1").textContent`)), heading)
          yield* assertAccessible(page)
        })
        yield* checks("/sandbox/sms", 403, /not possible/)
        yield* checks("/", 200, /^Messaging Service$/)
        assert.strictEqual(
          yield* page.evaluate("document.querySelector('dl')"),
          null,
          "only development shows channels"
        )
        yield* page.open(`${node.baseUrl}/sandbox/sms?token=${sandboxToken}`)
        const id = yield* sendSms(node, key, { to: "+250788123458", content: "Hello" })
        yield* page.until(contains(".sms .text", "Hello"))
        yield* checks(`/sandbox/sms/${id}`, 200, /^SMS to \+250788123458$/)
        yield* checks("/sandbox/sms/999999999", 404, /not here/)
        const to = "leaving@example.com"
        yield* sendBulk(node, key, { subject: "s", html: "h", recipients: [to] })
        const mail = yield* mailTo(to, "s")
        const [link = ""] = /\/u\/[\w-]+/.exec(mail) ?? []
        yield* checks(link, 200, /./)
        yield* page.click("button")
        yield* page.until("document.querySelector('button') === null")
        yield* assertAccessible(page)
        yield* checks("/u/1-unknown", 404, /./)
      })
  )
})
