/** Pages whose data change load themselves again, in a real browser. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { chromium, openPage } from "../support/Chromium.ts"
import { sendCode } from "../support/codes.ts"
import { signedInAs } from "../support/consolePeople.ts"
import { shows, submit, titled, type } from "../support/look.ts"
import { bringForward, secondsAhead } from "../support/scheduled.ts"
import { eventually, makeAccount, Service } from "../support/Service.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { create, deliveriesOf, happen } from "../support/webhookStories.ts"
import { createSession } from "../support/WhatsApp.ts"

const hasAttention = `document.querySelector(".attention").textContent.includes("shop.example")`

const buttonsToCopy = "document.querySelectorAll('[data-copy]:not([hidden])').length"

/**
 * Loads follow each other 40 times faster, and `ticks` counts the moments at which one may begin. What is due after more than
 * five seconds is in `later`.
 */
const hurry = `window.ticks = 0
  window.later = []
  const wait = setTimeout
  window.setTimeout = (run, millis, ...rest) => {
    if (millis > 5000) return later.push(run)
    const tick = () => {
      if (millis === 2000) window.ticks++
      run()
    }
    return wait(tick, millis === 2000 ? 50 : millis, ...rest)
  }`

const isPaused = `document.querySelector("[data-pause] span").textContent === "Resume updates"`

layer(Service.layer(), { excludeTestServices: true })(
  "pages that change by themselves",
  (it) => {
    const visit = Effect.gen(function*() {
      const node = yield* Service
      const { accountId, key } = yield* makeAccount()
      const { personId, token } = yield* signedInAs(accountId, "owner")
      const page = yield* openPage
      yield* page.command("Page.addScriptToEvaluateOnNewDocument", { source: hurry })
      yield* page.command("Network.enable")
      yield* page.command("Network.setCookie", { name: "console", value: token, url: node.baseUrl })
      return { node, accountId, key, page, personId, base: `${node.baseUrl}/console/${accountId}` }
    })

    it.effect.skipIf(chromium === undefined)(
      "an open overview shows a webhook that turns unhealthy, unless the person has paused it",
      () =>
        Effect.gen(function*() {
          const { accountId, base, key, node, page } = yield* visit
          const sql = yield* SqlClient.SqlClient
          yield* node.request("POST", "/v1/webhooks", {
            key,
            json: { url: "https://shop.example/hook", events: ["*"] }
          })
          yield* page.open(`${base}/`)
          const copied = yield* page.evaluate(buttonsToCopy)
          assert.isAbove(Number(copied), 0)
          // A load of the whole page would remove this.
          yield* page.evaluate("window.isSame = true")
          yield* page.evaluate("[...document.querySelectorAll('main a')].at(-1).focus()")
          const focused = yield* page.evaluate("document.activeElement.href")
          yield* sql`update webhooks set unhealthy_reason = 'failing', failing_since = now() where account_id = ${accountId}`
          yield* page.until(hasAttention)
          assert.strictEqual(yield* page.evaluate("window.isSame"), true)
          assert.strictEqual(yield* page.evaluate("document.activeElement.href"), focused)
          assert.strictEqual(yield* page.evaluate(buttonsToCopy), copied)
          yield* page.click("[data-pause]")
          yield* page.until(isPaused)
          yield* sql`update webhooks set unhealthy_reason = null, failing_since = null where account_id = ${accountId}`
          const ticks = Number(yield* page.evaluate("ticks"))
          yield* page.until(`ticks > ${ticks + 3}`)
          assert.strictEqual(yield* page.evaluate(hasAttention), true)
          yield* page.click("[data-pause]")
          yield* page.until(`!(${hasAttention})`)
        })
    )

    it.effect.skipIf(chromium === undefined)(
      "a batch reaches its end on an open page, which then stops loading itself",
      () =>
        Effect.gen(function*() {
          const { base, key, node, page } = yield* visit
          const recipients = Array.from({ length: 20 }, (_, index) => `reader${index}@example.com`)
          const json = { recipients, subject: "Hello", html: "Hello", send_at: yield* secondsAhead(3_600) }
          const sent = yield* node.request("POST", "/v1/email/send-bulk", { key, json })
          const batch = String(sent.at("data", "batch_id"))
          yield* page.open(`${base}/batches/email/${batch}`)
          yield* page.until(`document.querySelector("main[data-live]") !== null`)
          yield* bringForward("email", { batch })
          yield* page.until(`document.querySelector("main:not([data-live]) h1") !== null`)
          const { at } = yield* node.request("GET", `/v1/email/batches/${batch}`, { key })
          assert.deepInclude(at("data"), { status: "completed", sent: recipients.length, queued: 0 })
          yield* page.until(shows(`Sent${recipients.length}`))
        })
    )

    it.effect.skipIf(chromium === undefined)(
      "a delivery that is made again shows its new attempt on an open page",
      () =>
        Effect.gen(function*() {
          const { base, key, node, page } = yield* visit
          const receiver = yield* makeWebhookReceiver({ script: [500, 500, 200] })
          const { id } = yield* create(node, key, { url: receiver.url, events: ["email.bulk_completed"] })
          yield* happen(node, key)
          const sql = yield* SqlClient.SqlClient
          const due = (at: string) =>
            sql`update webhook_queue set due_at = now() + ${at}::interval
              where webhook_id = ${id} and status = 'retrying' returning id`
          const [waiting] = yield* eventually(due("1 hour"), ({ length }) => length === 1)
          const { at } = yield* deliveriesOf(node, key, id)
          assert.strictEqual(at("data", 0, "id"), Number(waiting?.["id"]))
          const attempts = at("data", 0, "attempt_count")
          yield* page.open(`${base}/webhooks/${id}/deliveries/${at("data", 0, "id")}`)
          const rows = `document.querySelectorAll("main tbody tr").length`
          yield* page.until(`${rows} === ${attempts}`)
          yield* due("0")
          yield* page.until(`${rows} === ${Number(attempts) + 1}`)
        })
    )

    it.effect.skipIf(chromium === undefined)(
      "a message that is delivered shows on an open page that it was opened",
      () =>
        Effect.gen(function*() {
          const { base, key, node, page } = yield* visit
          const sql = yield* SqlClient.SqlClient
          const json = { to: "ada@example.com", subject: "Hello", html: "<p>Hello</p>" }
          const id = Number((yield* node.request("POST", "/v1/email/send", { key, json })).at("data", "id"))
          yield* eventually(
            sql`update email_messages set status = 'delivered', delivered_at = now()
              where id = ${id} and status in ('sent', 'delivered') returning id`,
            ({ length }) => length === 1
          )
          yield* page.open(`${base}/messages/email/${id}`)
          yield* page.until(shows("Delivered"))
          const mail = `document.querySelector("#mail iframe").contentWindow`
          yield* page.evaluate(`window.mail = ${mail}`)
          yield* sql`update email_messages set status = 'opened', opened_at = now(), opens = 1 where id = ${id}`
          yield* page.until(shows("Delivered and opened 1 time."))
          assert.strictEqual(yield* page.evaluate(`window.mail === ${mail}`), true)
        })
    )

    it.effect.skipIf(chromium === undefined)(
      "an open list of messages moves no row, says how many are new, and shows them by one press",
      () =>
        Effect.gen(function*() {
          const { base, key, node, page } = yield* visit
          const send = (subject: string) =>
            node.request("POST", "/v1/email/send", { key, json: { to: "ada@example.com", subject, text: "Hello" } })
          const look = page.evaluate("later.splice(0).forEach((run) => run())")
          const rows = (count: number) => `document.querySelectorAll("main tbody tr").length === ${count}`
          const button = ".head .news a"
          const says = (label: string) => `document.querySelector("${button}").textContent === "${label}"`
          yield* page.open(`${base}/messages`)
          yield* page.until(shows("No messages yet"))
          yield* send("First")
          yield* look
          yield* page.until(rows(1))
          yield* page.until(says("Refresh"))
          yield* page.evaluate(`window.first = document.querySelector("main tbody tr")`)
          yield* page.evaluate(`window.place = first.getBoundingClientRect().top`)
          yield* send("Second")
          yield* send("Third")
          yield* look
          yield* page.until(says("New messages: 2"))
          yield* send("Fourth")
          yield* look
          yield* page.until(says("New messages: 3"))
          assert.strictEqual(yield* page.evaluate(rows(1)), true)
          assert.strictEqual(yield* page.evaluate(`first === document.querySelector("main tbody tr")`), true)
          assert.strictEqual(yield* page.evaluate("first.getBoundingClientRect().top === place"), true)
          yield* page.click(button)
          yield* page.until(rows(4))
          yield* page.until(says("Refresh"))
          // A status changes, so messages of one status have no number.
          yield* page.open(`${base}/messages?status=canceled`)
          yield* page.until(shows("No message matches"))
          const json = { to: "ada@example.com", subject: "Later", text: "Hello", send_at: yield* secondsAhead(3_600) }
          const { at } = yield* node.request("POST", "/v1/email/send", { key, json })
          yield* node.request("POST", `/v1/email/messages/${at("data", "id")}/cancel`, { key })
          yield* look
          yield* page.until(says("New messages"))
          yield* page.until(shows("No message matches"))
        })
    )

    it.effect.skipIf(chromium === undefined)(
      "a form that was refused stays, with its reason, on a page that loads itself again",
      () =>
        Effect.gen(function*() {
          const { base, key, node, page } = yield* visit
          const { id } = yield* sendCode(node, { key, json: { to: "ada@example.com", channel: "email" } })
          yield* page.open(`${base}/verify/${id}`)
          yield* page.until(`document.querySelector("main[data-live]") !== null`)
          yield* type(page, "code", "not a code")
          yield* page.click(submit)
          const isRefused = `document.querySelector("#f-code[aria-invalid]")?.value === "not a code"`
          yield* page.until(isRefused)
          yield* page.until("ticks > 5")
          assert.strictEqual(yield* page.evaluate(isRefused), true)
        })
    )

    it.effect.skipIf(chromium === undefined)(
      "what a person has opened or typed stays as it is while the rest of the page changes",
      () =>
        Effect.gen(function*() {
          const { accountId, base, key, node, page } = yield* visit
          const sql = yield* SqlClient.SqlClient
          const { answer: created } = yield* createSession(node, key, "Till")
          const id = Number(created.at("id"))
          const link = yield* node.request("POST", `/v1/whatsapp/sessions/${id}/pairing-link`, { key })
          yield* page.open(`${node.baseUrl}${URL.parse(String(link.at("data", "url")))?.pathname}`)
          yield* page.until(`document.querySelector(".pairing img")?.naturalWidth > 0`)
          yield* type(page, "phone_number", "+25078")
          const isTyped = `document.activeElement.id === "f-phone_number" && document.activeElement.value === "+25078"`
          yield* sql`update whatsapp_sessions set name = 'Front desk' where id = ${id}`
          yield* page.until(titled("Link your phone to Front desk"))
          assert.strictEqual(yield* page.evaluate(isTyped), true)
          // No update comes any more, so the picture ends by itself.
          yield* page.click("[data-pause]")
          yield* page.until(`${isPaused} && document.querySelector(".pairing img") !== null`)
          yield* page.evaluate("later.forEach((run) => run())")
          yield* page.until(`document.querySelector(".pairing img") === null`)
          yield* page.until(shows("This code has expired."))
          yield* page.open(`${base}/`)
          const opened = `document.querySelector("main details.curl")`
          yield* page.evaluate(`${opened}.open = true`)
          yield* sql`insert into webhooks (account_id, url, events, secret, secret_prefix, unhealthy_reason, failing_since)
            values (${accountId}, 'https://shop.example/hook', array['*'], '', 'whsec_', 'failing', now())`
          yield* page.until(hasAttention)
          assert.strictEqual(yield* page.evaluate(`${opened}.open`), true)
        })
    )

    it.effect.skipIf(chromium === undefined)(
      "a page says that its updates wait, for a dialog, and for a text whose form is gone",
      () =>
        Effect.gen(function*() {
          const { accountId, base, page } = yield* visit
          const sql = yield* SqlClient.SqlClient
          const waits = `document.querySelector("[data-stale]").textContent === "Updates wait until you have finished."`
          const [row] = yield* sql`insert into whatsapp_sessions
              (account_id, session_key, name, data_key, is_paired, status, desired, is_confirmed)
            values (${accountId}, 'wa_waits', 'Shop', '', true, 'connected', 'off', true) returning id`
          const id = Number(row?.["id"])
          yield* page.open(`${base}/whatsapp/${id}`)
          yield* page.click("main a[href$='/rename']")
          yield* page.until(waits)
          yield* page.click("dialog .buttons a")
          yield* page.until(`!(${waits})`)
          yield* page.open(`${base}/whatsapp/${id}/chats/15550104899`)
          yield* type(page, "content", "Yes, at eight.")
          yield* sql`update whatsapp_sessions set status = 'disconnected' where id = ${id}`
          yield* page.until(waits)
          assert.strictEqual(yield* page.evaluate("document.activeElement.value"), "Yes, at eight.")
          yield* page.evaluate(`document.activeElement.value = ""`)
          yield* page.until(shows("The session is not connected, so it cannot send."))
        })
    )

    it.effect.skipIf(chromium === undefined)(
      "an open page leads to the sign-in once the person has signed out elsewhere",
      () =>
        Effect.gen(function*() {
          const { base, page, personId } = yield* visit
          const sql = yield* SqlClient.SqlClient
          yield* page.open(`${base}/`)
          yield* sql`delete from login_sessions where person_id = ${personId}`
          yield* page.until(`location.pathname === "/console/sign-in"`)
        })
    )

    it.effect.skipIf(chromium === undefined)(
      "a page says that it is out of date while the service does not answer",
      () =>
        Effect.gen(function*() {
          const { base, page } = yield* visit
          yield* page.open(`${base}/`)
          const isStale = `document.querySelector("[data-stale]").textContent.startsWith("This page is out of date")`
          const network = (offline: boolean) =>
            page.command("Network.emulateNetworkConditions", {
              offline,
              latency: 0,
              downloadThroughput: -1,
              uploadThroughput: -1
            })
          yield* network(true)
          yield* page.until(isStale)
          yield* network(false)
          yield* page.until(`!(${isStale})`)
        })
    )
  }
)
