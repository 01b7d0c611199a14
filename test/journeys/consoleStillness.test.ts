/** Pages stay where they are while what they show changes, in a real browser. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { type BrowserPage, chromium } from "../support/Chromium.ts"
import { shows, visitor } from "../support/look.ts"
import { bringForward, secondsAhead } from "../support/scheduled.ts"
import { eventually, sandboxToken, Service } from "../support/Service.ts"
import { createSession } from "../support/WhatsApp.ts"

/** Pages load themselves again at once, and what is due after more than five seconds is in `later`. */
const hurry = `window.later = []
  const wait = setTimeout
  window.setTimeout = (run, millis, ...rest) =>
    millis > 5000 ? later.push(run) : wait(run, millis === 2000 ? 50 : millis, ...rest)`

/** Keeps what moves from now on, also soon after a press. */
const watch = `(() => {
  window.moved = []
  const nameOf = ({ node }) => (node?.outerHTML ?? node?.textContent ?? "").slice(0, 100)
  new PerformanceObserver((list) => {
    for (const { sources } of list.getEntries()) moved.push(...sources.map(nameOf))
  }).observe({ type: "layout-shift" })
})()`

/** What has moved, once the last change is painted. */
const moved =
  `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => resolve(moved)))))`

layer(Service.layer(), { excludeTestServices: true })("a page that changes by itself", (it) => {
  const visit = Effect.gen(function*() {
    const visited = yield* visitor
    const { page } = visited
    yield* page.command("Page.addScriptToEvaluateOnNewDocument", { source: hurry })
    const watched = (address: string) => Effect.andThen(page.open(address), page.evaluate(watch))
    return { ...visited, watched }
  })

  const resize = (page: BrowserPage, width: number) =>
    page.command("Emulation.setDeviceMetricsOverride", { width, height: 800, deviceScaleFactor: 1, mobile: false })

  const assertStill = (page: BrowserPage) =>
    Effect.map(page.evaluate(moved), (nodes) => assert.deepStrictEqual(nodes, []))

  it.effect.skipIf(chromium === undefined)(
    "a batch moves nothing from its first mail to its last",
    () =>
      Effect.gen(function*() {
        const { at, key, node, page, watched } = yield* visit
        const sql = yield* SqlClient.SqlClient
        const recipients = Array.from({ length: 8 }, (_, index) => `reader${index}@example.com`)
        const json = { recipients, subject: "Hello", html: "Hello", send_at: yield* secondsAhead(3_600) }
        const sent = yield* node.request("POST", "/v1/email/send-bulk", { key, json })
        const batch = String(sent.at("data", "batch_id"))
        yield* watched(`${at}/batches/email/${batch}`)
        yield* sql`update email_batches set sent = 3 where id = ${batch}`
        yield* page.until(shows("Sent3"))
        yield* sql`update email_batches set sent = 8, status = 'completed', completed_at = now() where id = ${batch}`
        yield* page.until(`${shows("Sent8")} && document.querySelector("main:not([data-live])") !== null`)
        yield* assertStill(page)
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a batch moves nothing when its first messages fail, then others for another reason, and when it ends",
    () =>
      Effect.gen(function*() {
        const { at, key, node, page, watched } = yield* visit
        const sql = yield* SqlClient.SqlClient
        const recipients = Array.from({ length: 8 }, (_, index) => `reader${index}@example.com`)
        for (const width of [1280, 360]) {
          const json = { recipients, subject: "Hello", html: "Hello", send_at: yield* secondsAhead(3_600) }
          const batch = String(
            (yield* node.request("POST", "/v1/email/send-bulk", { key, json })).at("data", "batch_id")
          )
          const fail = (index: number, reason: string) =>
            sql`with gone as (
                update email_messages set status = 'failed', error = ${reason}, completed_at = now()
                where batch_id = ${batch} and recipient = ${`reader${index}@example.com`}
              ) update email_batches set failed = failed + 1 where id = ${batch}`
          yield* resize(page, width)
          yield* watched(`${at}/batches/email/${batch}`)
          yield* page.until(shows("No message has failed."))
          yield* fail(0, "550 5.1.1 No such user")
          yield* page.until(shows("550 5.1.1 No such user"))
          yield* fail(1, "452 4.2.2 Mailbox full")
          yield* page.until(shows("(2) 452 4.2.2 Mailbox full"))
          yield* sql`update email_batches set sent = total - failed, status = 'completed', completed_at = now()
            where id = ${batch}`
          yield* page.until(`document.querySelector("main:not([data-live]) .head a[href$='/again']") !== null`)
          yield* assertStill(page)
          yield* page.click(".attention .new a")
          yield* page.until("document.querySelectorAll('.attention li a.button').length === 2")
        }
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "the overview moves nothing when something needs attention or no longer does, and shows it first",
    () =>
      Effect.gen(function*() {
        const { accountId, at, page, watched } = yield* visit
        const sql = yield* SqlClient.SqlClient
        const [first = 0, second = 0] = (yield* sql`insert into webhooks
            (account_id, url, events, secret, secret_prefix, unhealthy_reason, failing_since)
          select ${accountId}::bigint, 'https://' || name || '.example/', array['*'], '', 'whsec_', reason, now()
          from unnest(array['old', 'new'], array['gone', null]) as t (name, reason) returning id`)
          .map(({ id }) => Number(id))
        const turn = (id: number, reason: string | null) =>
          sql`update webhooks set unhealthy_reason = ${reason}, failing_since = now() where id = ${id}`
        const item = (id: number) => `document.querySelector("#attention-webhook_unhealthy-${id}")`
        for (const width of [1280, 360]) {
          yield* turn(first, "gone")
          yield* turn(second, null)
          yield* resize(page, width)
          yield* watched(`${at}/`)
          yield* page.until(shows("The webhook https://old.example/ is unhealthy."))
          // The address then ends in #main. A press of what is new loads the page all the same.
          yield* page.evaluate("document.querySelector('a.skip').click()")
          yield* turn(second, "gone")
          yield* page.until(
            `document.querySelector(".attention li").textContent.startsWith("The webhook https://new.example/ is unhealthy.")`
          )
          yield* turn(first, null)
          yield* page.until(`getComputedStyle(${item(first)}).visibility === "hidden"`)
          yield* assertStill(page)
          yield* page.click(".attention .new a")
          yield* page.until(`${item(second)}?.querySelector("form button") !== null && ${item(first)} === null`)
        }
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a message moves nothing while it is sent, delivered and opened",
    () =>
      Effect.gen(function*() {
        const { at, key, node, page, watched } = yield* visit
        const sql = yield* SqlClient.SqlClient
        const json = {
          to: "ada@example.com",
          subject: "Hello",
          html: "<p>Hello</p>",
          // On the same day: the text of another day takes two lines until the time is brought forward.
          send_at: yield* secondsAhead(90)
        }
        const id = Number((yield* node.request("POST", "/v1/email/send", { key, json })).at("data", "id"))
        yield* watched(`${at}/messages/email/${id}`)
        yield* bringForward("email", { id })
        yield* eventually(
          sql`update email_messages set status = 'delivered', delivered_at = now()
            where id = ${id} and sent_at is not null and status in ('sent', 'delivered') returning id`,
          ({ length }) => length === 1
        )
        yield* page.until(shows("Delivered"))
        yield* sql`update email_messages set status = 'opened', opened_at = now(), opens = 1 where id = ${id}`
        yield* page.until(shows("Delivered and opened 1 time."))
        yield* assertStill(page)
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "the page of a code to scan moves nothing when the code ends, when the next one comes, and when the phone is linked",
    () =>
      Effect.gen(function*() {
        const { at, key, node, page, watched } = yield* visit
        const { answer: made } = yield* createSession(node, key, "Till")
        const session = String(made.at("id"))
        const link = yield* node.request("POST", `/v1/whatsapp/sessions/${session}/pairing-link`, { key })
        const door = `${node.baseUrl}${URL.parse(String(link.at("data", "url")))?.pathname}`
        const isShown = `document.querySelector(".pairing img")?.naturalWidth > 0`
        for (const width of [1280, 360]) {
          yield* resize(page, width)
          for (const address of [`${at}/whatsapp/${session}`, door]) {
            yield* watched(address)
            yield* page.until(isShown)
            // The picture ends before the next load of the page.
            yield* page.evaluate(
              "new Promise((resolve) => (later.forEach((run) => run()), requestAnimationFrame(resolve)))"
            )
            yield* page.until(isShown)
            yield* assertStill(page)
          }
        }
        yield* node.request("POST", "/sandbox/phones/scan", {
          body: `session=${session}&number=15550104872`,
          headers: { "content-type": "application/x-www-form-urlencoded", authorization: `Bearer ${sandboxToken}` }
        })
        yield* page.until(shows("Your phone is linked."))
        yield* assertStill(page)
      })
  )
})
