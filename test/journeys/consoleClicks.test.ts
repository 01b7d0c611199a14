/**
 * The jobs of a developer and of a person who supports readers: each is done to its end in a desktop window, with the pointer
 * and then by the keyboard alone. A click is a press of a link, a button or Enter; typing and choosing are free. On a phone the
 * navigation is a menu and the search is a link, so that a job that begins with one of them takes 1 more.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Tokens from "../../src/platform/crypto/Tokens.ts"
import { look } from "../support/axe.ts"
import { chromium, openPage } from "../support/Chromium.ts"
import { signedInAs } from "../support/consolePeople.ts"
import { type Hands, withKeyboard, withPointer } from "../support/hands.ts"
import { shows, submit, titled } from "../support/look.ts"
import { missedEvents } from "../support/missedEvents.ts"
import { eventually, makeAccount, Service } from "../support/Service.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { create } from "../support/webhookStories.ts"

/** The overview of a new account, open. */
const begin = Effect.fnUntraced(function*({ page }: Hands) {
  const node = yield* Service
  const { accountId, key } = yield* makeAccount()
  const { token } = yield* signedInAs(accountId, "owner")
  const origin = node.baseUrl.replace("127.0.0.1", "localhost")
  yield* page.command("Network.setCookie", { name: "console", value: token, url: origin })
  const at = `${origin}/console/${accountId}`
  yield* page.open(`${at}/`)
  const request = (method: string, path: string, json?: unknown) => node.request(method, path, { key, json })
  return { accountId, at, key, node, request }
})

/** The text of the first thing below the heading. */
const firstLine = `document.querySelector("main .head").nextElementSibling.textContent`

const mail = { to: "ada@example.com", subject: "Your receipt", text: "Thank you, Ada." }

const writeMail = Effect.fnUntraced(function*(hands: Hands) {
  for (const [name, text] of Object.entries(mail)) yield* hands.type(name, text)
  yield* hands.click(submit)
})

/** From the link that the first start prints. */
const firstMail = Effect.fnUntraced(function*(hands: Hands) {
  const node = yield* Service
  const sql = yield* SqlClient.SqlClient
  const { page } = hands
  yield* makeAccount()
  yield* sql`update people set is_operator = false`
  const token = Tokens.mint("st_")
  yield* sql`insert into setup_links (token_hash, expires_at) values (${Tokens.hash(token)}, now() + interval '1 hour')`
  yield* page.open(`${node.baseUrl.replace("127.0.0.1", "localhost")}/console/setup/${token}`)
  yield* hands.type("name", "Ada")
  yield* hands.type("email", `${token.slice(-8)}@example.com`.toLowerCase())
  yield* hands.type("password", "correct horse battery staple")
  yield* hands.click(submit)
  yield* page.until(titled("Overview"))
  yield* hands.click("main a[href$='/send']")
  yield* writeMail(hands)
  yield* page.until(`${firstLine}.startsWith("The mail relay took it.")`)
  yield* page.until(shows("What happened"))
  return 1 + hands.clicks()
})

/** In test mode the inbox of the recipient is beside the mail. */
const firstTestMail = Effect.fnUntraced(function*(hands: Hands) {
  const { at, request } = yield* begin(hands)
  yield* request("POST", "/v1/api-keys", { name: "CI", mode: "test" })
  yield* hands.page.open(`${at}/test/`)
  yield* hands.place("/send")
  yield* writeMail(hands)
  yield* hands.page.until(
    `document.querySelector(".received .words")?.textContent.trim() === ${JSON.stringify(mail.text)}`
  )
  return hands.clicks()
})

const keyOfOneScope = Effect.fnUntraced(function*(hands: Hands) {
  const { node } = yield* begin(hands)
  yield* hands.place("/keys")
  yield* hands.click("main a.button.main")
  yield* hands.type("name", "Receipts")
  yield* hands.choose("preset", "email")
  yield* hands.click(submit)
  yield* hands.page.until(titled("Your new API key"))
  const key = String(yield* hands.page.evaluate(`document.querySelector(".copyable code").textContent`))
  const sent = yield* node.request("POST", "/v1/email/send", { key, json: mail })
  const texted = yield* node.request("POST", "/v1/sms/send", { key, json: { to: "+250788123456", content: "Hi" } })
  assert.deepStrictEqual([sent.status < 300, texted.status], [true, 403])
  return hands.clicks()
})

const whyRefused = Effect.fnUntraced(function*(hands: Hands) {
  const { at, request } = yield* begin(hands)
  const { headers } = yield* request("POST", "/v1/email/send", { to: "ada@", subject: "Hello", text: "Hello" })
  const id = String(headers["x-request-id"])
  yield* eventually(request("GET", `/v1/requests/${id}`), ({ status }) => status === 200)
  yield* hands.find(` ${id} `)
  yield* hands.page.until(`${titled("POST /v1/email/send")} && ${shows("The request was refused with status 422: ")}`)
  const clicks = hands.clicks()
  // To pass the case on.
  yield* hands.click("main .head [data-copy]")
  yield* hands.page.until(
    `navigator.clipboard.readText().then((text) => text === ${JSON.stringify(`${at}/requests/${id}`)})`
  )
  return [clicks, hands.clicks() - clicks]
})

const domain = Effect.fnUntraced(function*(hands: Hands) {
  const { accountId } = yield* begin(hands)
  const name = `ada-${accountId}.com`
  yield* hands.place("/domains")
  yield* hands.click("main a.button.main")
  yield* hands.type("domain", name)
  yield* hands.click(submit)
  yield* hands.page.until(`document.querySelectorAll(".record").length === 4 && ${shows(`api._domainkey.${name}.`)}`)
  const clicks = hands.clicks()
  yield* hands.click("main .head form button")
  yield* hands.page.until(shows("What DNS has"))
  return [clicks, hands.clicks() - clicks]
})

const webhook = Effect.fnUntraced(function*(hands: Hands) {
  const { key, node } = yield* begin(hands)
  yield* create(node, key, { url: "https://shop.example/hook", events: ["*"] })
  const receiver = yield* makeWebhookReceiver({ script: [{ status: 200, body: "thank you" }] })
  yield* hands.place("/webhooks")
  yield* hands.click("main a.button.main")
  yield* hands.type("url", receiver.url)
  yield* hands.click(submit)
  yield* hands.page.until(titled("Your new webhook"))
  yield* hands.click("main .buttons form button")
  yield* hands.page.until(shows("thank you"))
  return hands.clicks()
})

const template = Effect.fnUntraced(function*(hands: Hands) {
  const { at, request } = yield* begin(hands)
  const { page } = hands
  const made = yield* request("POST", "/v1/email/templates", {
    name: "Welcome",
    subject: "Hello {{name}}",
    html: "<p>Dear {{name}}</p>",
    text: "Dear {{name}}"
  })
  assert.strictEqual(made.status, 201, made.text)
  const frame = (text: string) =>
    `fetch(document.querySelector("main iframe").src).then((answer) => answer.text())
      .then((text) => text.includes(${JSON.stringify(`<p>${text}</p>`)}))`
  yield* hands.place("/templates")
  yield* hands.click("main .list a")
  yield* page.until(`document.querySelector("main iframe") !== null`)
  yield* page.until(frame("Dear {{name}}"))
  const clicks = hands.clicks()
  yield* hands.type("v.name", "Ada")
  yield* hands.click(submit)
  yield* page.until(`${shows("Hello Ada")} && location.search.includes("v.name=Ada")`)
  yield* page.until(frame("Dear Ada"))
  yield* hands.click(".tabs a[href*='view=phone']")
  yield* page.until(`document.querySelector("main iframe.phone")?.clientWidth === 358`)
  yield* page.until(frame("Dear Ada"))
  yield* hands.click(".tabs a[href*='view=plain']")
  yield* page.until(`document.querySelector(".mail-text")?.textContent === "Dear Ada"`)
  assert.include(String(yield* page.evaluate("location.href")), `${at}/templates/`)
  return [clicks, hands.clicks() - clicks]
})

const pairing = Effect.fnUntraced(function*(hands: Hands) {
  const { node } = yield* begin(hands)
  const { page } = hands
  yield* hands.place("/whatsapp")
  yield* hands.click("main a.button.main")
  yield* hands.type("name", "Shop")
  yield* hands.click(submit)
  yield* page.until(`document.querySelector(".pairing img")?.naturalWidth > 0`)
  const clicks = hands.clicks()
  yield* hands.click("main form[data-copies] button")
  yield* page.until("navigator.clipboard.readText().then((text) => text.includes('/console/pair/'))")
  const link = String(yield* page.evaluate("navigator.clipboard.readText()"))
  assert.include(link, "/console/pair/")
  const opened = yield* node.request("GET", URL.parse(link)?.pathname ?? "")
  assert.strictEqual(opened.status, 200)
  assert.include(opened.text, "Link your phone to Shop")
  return [clicks, hands.clicks() - clicks]
})

/** By an address, a number and an id. */
const didAdaGetIt = Effect.fnUntraced(function*(hands: Hands) {
  const { at, request } = yield* begin(hands)
  const { page } = hands
  const sent = yield* request("POST", "/v1/email/send", mail)
  yield* request("POST", "/v1/sms/send", { to: "+250788123456", content: "Your table is ready." })
  const counted: Array<number> = []
  for (
    const [sought, isListed, line] of [
      ["ada@example.com", true, "The mail relay took it."],
      ["0788 123 456", true, "Delivered"],
      [`email ${String(sent.at("data", "id"))}`, false, "The mail relay took it."]
    ] as const
  ) {
    const before = hands.clicks()
    yield* page.open(`${at}/`)
    yield* hands.find(sought)
    if (isListed) yield* hands.click("main .list tbody a")
    yield* page.until(`location.pathname.includes("/messages/") && ${firstLine}.startsWith(${JSON.stringify(line)})`)
    counted.push(hands.clicks() - before)
  }
  return counted
})

/** The reason is on the overview already, and it is the first line of the message. */
const whyNot = Effect.fnUntraced(function*(hands: Hands) {
  const { page } = hands
  const { at, request } = yield* begin(hands)
  const { at: part } = yield* request("POST", "/v1/email/send", { ...mail, to: "bounce@example.com" })
  yield* eventually(
    request("GET", `/v1/email/messages/${String(part("data", "id"))}`),
    ({ at: field }) => field("data", "status") === "bounced"
  )
  yield* page.open(`${at}/`)
  yield* page.until(shows("550 5.1.1 No such user here"))
  const clicks = hands.clicks()
  yield* hands.click("main [aria-labelledby=failures] a")
  yield* page.until(titled("Email to bounce@example.com"))
  yield* page.until(
    `${firstLine}.startsWith("Refused for good") && ${firstLine}.includes("550 5.1.1 No such user here")`
  )
  return [clicks, hands.clicks() - clicks]
})

/** The mail is sent again as it was. */
const unsuppress = Effect.fnUntraced(function*(hands: Hands) {
  const { page } = hands
  const { at, request } = yield* begin(hands)
  yield* request("POST", "/v1/email/suppressions", { email: mail.to })
  const { at: part } = yield* request("POST", "/v1/email/send", mail)
  const id = String(part("data", "id"))
  yield* page.open(`${at}/messages/email/${id}`)
  yield* page.until(`${firstLine}.startsWith("Not sent: ada@example.com is on the suppression list")`)
  yield* hands.click("main .why form.inline button")
  yield* page.until(`location.pathname.endsWith("/send") && ${shows("The address gets mail again.")}`)
  yield* hands.click(submit)
  yield* page.until(`${firstLine}.startsWith("The mail relay took it.")`)
  const again = String(yield* page.evaluate(`location.pathname.split("/").at(-1)`))
  assert.notStrictEqual(again, id)
  const content = (of: string) =>
    Effect.map(request("GET", `/v1/email/messages/${of}/content`), ({ at: field }) => field("data"))
  assert.deepStrictEqual(yield* content(again), yield* content(id))
  assert.deepInclude(yield* content(again), { subject: mail.subject, text: mail.text })
  return hands.clicks()
})

/** The count is on the page before the last click. */
const replay = Effect.fnUntraced(function*(hands: Hands) {
  const { page } = hands
  const { accountId, key, node } = yield* begin(hands)
  const receiver = yield* makeWebhookReceiver()
  const { id } = yield* create(node, key, { url: receiver.url, events: ["email.bulk_completed"] })
  yield* missedEvents({ accountId, webhookId: id, count: 40 })
  yield* hands.place("/webhooks")
  yield* hands.click("main .list a[href$='/recover']")
  yield* hands.time("since", "2020-01-01T00:00")
  yield* hands.click("main form.filter button")
  yield* page.until(`location.search.includes("since=2020-01-01T00") && ${shows("Replay 40 events")}`)
  const clicks = hands.clicks()
  yield* hands.click(submit)
  yield* receiver.received(40)
  yield* page.until(shows("completed"))
  return clicks + 1
})

/** The clicks of each job; of its steps where it has several. */
const jobs = {
  "a first mail, from the link of the first start": [firstMail, 4],
  "a mail in test mode, and the inbox beside it": [firstTestMail, 2],
  "a key that may only send email": [keyOfOneScope, 3],
  "why a request was refused, and a link to that": [whyRefused, [1, 1]],
  "the four records of a domain, and a check of them": [domain, [3, 1]],
  "another webhook, and what it answered to a test": [webhook, 4],
  "a template, then with a value, on a phone and as a text": [template, [2, 3]],
  "the code of a WhatsApp session, and a link to it": [pairing, [3, 1]],
  "whether Ada got it, by an address, a number and an id": [didAdaGetIt, [2, 2, 1]],
  "why not, on the overview and on the message": [whyNot, [0, 1]],
  "an address gets mail again, and the same mail": [unsuppress, 2],
  "the replay of what a webhook missed": [replay, 4]
} as const

layer(Service.layer(), { excludeTestServices: true })("the clicks of a job", (it) => {
  /** A desktop window, without transitions. */
  const desk = Effect.gen(function*() {
    const page = yield* openPage
    yield* page.command("Network.enable")
    yield* page.command("Browser.grantPermissions", { permissions: ["clipboardReadWrite", "clipboardSanitizedWrite"] })
    yield* page.command("Page.bringToFront")
    yield* page.command("Emulation.setEmulatedMedia", {
      features: [{ name: "prefers-reduced-motion", value: "reduce" }]
    })
    return page
  })

  for (const [way, handsOf] of [["with the pointer", withPointer], ["by the keyboard alone", withKeyboard]] as const) {
    it.effect.skipIf(chromium === undefined)(`each job takes exactly these, ${way}`, () =>
      Effect.gen(function*() {
        const page = yield* desk
        for (const [name, [work, clicks]] of Object.entries(jobs)) {
          assert.deepStrictEqual<unknown>(yield* work(handsOf(page)), clicks, name)
        }
      }))
  }

  it.effect.skipIf(chromium === undefined)(
    "a job takes 1 more on a phone, for the menu or for the search",
    () =>
      Effect.gen(function*() {
        const page = yield* desk
        yield* look(page, { width: 360, scheme: "light" })
        assert.strictEqual(yield* keyOfOneScope(withPointer(page)), 3 + 1)
        assert.deepStrictEqual(yield* whyRefused(withPointer(page)), [1 + 1, 1])
      })
  )
})
