/** Webhooks in a real browser: a person changes one, gives it a new secret, and replays what it missed. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { chromium } from "../support/Chromium.ts"
import { withPointer } from "../support/hands.ts"
import { look, said, shows, submit, titled, type, visitor } from "../support/look.ts"
import { missedEvents } from "../support/missedEvents.ts"
import { eventually, Service } from "../support/Service.ts"
import { longer } from "../support/waiting.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { create } from "../support/webhookStories.ts"

layer(Service.layer({ env: { WEBHOOK_ALLOW_LOOPBACK: "true" } }), {
  excludeTestServices: true
})("webhooks in the console", (it) => {
  it.effect.skipIf(chromium === undefined)(
    "a person edits a webhook, whose stored header keeps its value, and makes a new secret that is shown once",
    () =>
      Effect.gen(function*() {
        const { at, key, node, page } = yield* visitor
        const receiver = yield* makeWebhookReceiver()
        const { id, secret } = yield* create(node, key, {
          url: receiver.url,
          events: ["email.sent"],
          headers: { "X-Token": "swordfish" }
        })
        yield* page.open(`${at}/webhooks/${id}`)
        yield* look(page, "webhook")
        yield* page.click("main a[href$='/edit']")
        yield* page.until(titled("Edit the webhook"))
        assert.strictEqual(yield* page.evaluate(`document.querySelector("#f-headers").value`), "X-Token: ********")
        yield* type(page, "headers", "X-Token: ********\nHost: elsewhere")
        yield* page.click(submit)
        yield* page.until(`document.querySelector("#f-headers[aria-invalid]") !== null`)
        yield* look(page, "webhook-edit")
        yield* type(page, "headers", "X-Token: ********\nX-Team: shop")
        yield* type(page, "tags", "receipt, order")
        yield* page.evaluate(`document.querySelector("[name=channels][value=email]").click()`)
        yield* page.click(submit)
        yield* page.until(said("The webhook was changed."))
        yield* page.until(shows("X-Team"))
        const changed = yield* node.request("GET", `/v1/webhooks/${id}`, { key })
        assert.deepInclude(changed.at("data"), { tags: ["receipt", "order"], channels: ["email"] })
        yield* node.request("POST", `/v1/webhooks/${id}/test`, { key, json: { event: "email.sent" } })
        const [request] = yield* receiver.received(1)
        assert.deepInclude(request?.headers, { "x-token": "swordfish", "x-team": "shop" })
        yield* page.click("main a[href$='/rotate']")
        yield* page.until(titled("Make a new secret?"))
        yield* look(page, "webhook-rotate")
        yield* page.click(submit)
        yield* page.until(titled("Your new secret"))
        const made = String(yield* page.evaluate(`document.querySelector(".copyable code").textContent`))
        assert.match(made, /^whsec_/)
        assert.notStrictEqual(made, secret)
        yield* look(page, "webhook-secret")
        yield* page.open(`${at}/webhooks/${id}`)
        yield* page.click(".list a")
        yield* page.until(shows("Check the signature"))
        yield* page.click(".tabs a[href*='tool=python']")
        yield* page.until(shows("import base64, hashlib"))
        yield* look(page, "webhook-delivery")
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a person replays what a webhook missed in four clicks, and sees the count before the last",
    () =>
      Effect.gen(function*() {
        const { accountId, at, key, node, page } = yield* visitor
        const receiver = yield* makeWebhookReceiver()
        const { id } = yield* create(node, key, { url: receiver.url, events: ["email.bulk_completed"] })
        yield* missedEvents({ accountId, webhookId: id, count: 40 })
        yield* node.request("PUT", `/v1/webhooks/${id}`, { key, json: { is_active: false } })
        yield* page.open(`${at}/webhooks/${id}/recover`)
        yield* page.until(shows("Enable it first"))
        yield* node.request("PUT", `/v1/webhooks/${id}`, { key, json: { is_active: true } })
        yield* page.open(`${at}/webhooks`)
        yield* page.click(".list a")
        yield* page.click("main a[href$='/recover']")
        yield* page.until(titled("Replay what was missed"))
        yield* type(page, "since", "2020-01-01T00:00")
        yield* page.click("main form.filter button")
        yield* page.until(shows("Replay 40 events"))
        yield* look(page, "recover")
        yield* page.click(submit)
        yield* page.until(said("The replay has started. This page shows its progress."))
        yield* receiver.received(40)
        yield* page.until(shows("Earlier replays"))
        yield* page.until(shows("completed"))
        yield* look(page, "recover-done")
        yield* page.open(`${at}/webhooks/${id}/recover?since=2020-01-01T00:00`)
        yield* page.until(shows("Nothing was missed in this time."))
        yield* page.open(`${at}/webhooks/${id}/recover?since=2999-01-01T00:00`)
        yield* page.until(shows("This time does not work."))
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a person filters deliveries by status, answer, event and message, removes each filter, and replays what a filter selects",
    () =>
      Effect.gen(function*() {
        const { accountId, at, key, node, page } = yield* visitor
        const sql = yield* SqlClient.SqlClient
        const receiver = yield* makeWebhookReceiver()
        const { id } = yield* create(node, key, { url: receiver.url, events: ["email.bulk_completed"] })
        yield* sql`update webhooks set created_at = now() - interval '1 hour' where id = ${id}`
        const events = yield* missedEvents({ accountId, webhookId: id, count: 40 })
        yield* sql`update webhook_deliveries set response_code = 503 where webhook_id = ${id} and status = 'failed'`
        yield* sql`update events set channel = 'email', message_id = 12 where id = ${events[0] ?? ""}`
        const rows = (count: number) =>
          page.until(`document.querySelectorAll("main .list tbody tr").length === ${count}`)
        const removeChip = page.click(".chips a")
        yield* page.open(`${at}/webhooks/${id}`)
        yield* rows(10)
        yield* page.click("main .head a[href$='/deliveries']")
        yield* page.until(titled("Deliveries"))
        yield* rows(40)
        yield* page.click(".filter summary")
        yield* look(page, "deliveries")
        yield* page.evaluate(`document.querySelector("#filter-response_code").value = "5xx"`)
        yield* page.click(".filter button")
        yield* page.until(shows("Answer: 5xx"))
        yield* rows(20)
        yield* removeChip
        yield* rows(40)
        yield* page.evaluate(`document.querySelector("#filter-message").value = "email/12"`)
        yield* page.click(".search .line button")
        yield* rows(1)
        assert.isFalse(yield* page.evaluate("document.querySelector(\"main .head a[href*='/recover']\") !== null"))
        yield* removeChip
        yield* rows(40)
        yield* page.open(`${at}/webhooks/${id}/deliveries?event=email.sent`)
        yield* page.until(shows("No delivery matches this filter."))
        yield* look(page, "deliveries-none")
        yield* page.open(`${at}/webhooks/${id}/deliveries?event=nothing&message=12&response_code=9&status=skipped`)
        yield* page.until(shows("This filter does not exist and was ignored: message, event, response_code."))
        yield* rows(20)
        yield* look(page, "deliveries-filtered")
        yield* page.click("main .head a[href*='/recover']")
        yield* page.until(titled("Replay what was missed"))
        yield* page.until(shows("Replay 20 events"))
        yield* page.click(submit)
        yield* receiver.received(20)
        yield* page.until(shows("Earlier replays"))
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a person replays all of a filter by event and answer, and reads the count and the filter before the last click",
    () =>
      Effect.gen(function*() {
        const { accountId, at, key, node, page } = yield* visitor
        const sql = yield* SqlClient.SqlClient
        const receiver = yield* makeWebhookReceiver()
        const { id } = yield* create(node, key, { url: receiver.url, events: ["*"] })
        yield* sql`update webhooks set created_at = now() - interval '1 hour' where id = ${id}`
        yield* missedEvents({ accountId, webhookId: id, count: 40 })
        yield* sql`update webhook_deliveries set response_code = 503 where webhook_id = ${id} and status = 'failed'`
        yield* page.open(`${at}/webhooks/${id}/deliveries?event=email.bulk_completed&response_code=5xx`)
        yield* page.click("main .head a[href*='/recover']")
        yield* page.until(titled("Replay what was missed"))
        yield* page.until(shows("failed or were skipped, Event: email.bulk_completed, Answer: 5xx"))
        yield* page.until(shows("Replay 20 events"))
        // A time with seconds is wider than a narrow screen.
        assert.match(String(yield* page.evaluate("document.querySelector('#f-since').value")), /T\d\d:\d\d$/)
        yield* look(page, "recover-filtered")
        yield* page.click(submit)
        yield* receiver.received(20)
        yield* page.until(shows("Earlier replays"))
        yield* page.until(shows("completed"))
        yield* page.until(shows("failed or were skipped, Event: email.bulk_completed, Answer: 5xx"))
        yield* page.open(`${at}/webhooks/${id}/recover?since=2020-01-01T00:00&response_code=9`)
        yield* page.until(shows("This filter does not exist."))
        assert.strictEqual(receiver.requests.length, 20)
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a webhook that turns unhealthy and recovers takes 13 clicks, without an application that receives it",
    () =>
      Effect.gen(function*() {
        const { at, page } = yield* visitor
        const hands = withPointer(page)
        yield* page.open(`${at}/`)
        const sql = yield* SqlClient.SqlClient
        const send = (subject: string) =>
          Effect.gen(function*() {
            yield* hands.place("/send")
            yield* type(page, "to", "ada@example.com")
            yield* type(page, "subject", subject)
            yield* type(page, "text", "Hello")
            yield* hands.click(submit)
            yield* page.until(shows("The mail relay took it."))
          })
        const openWebhook = Effect.andThen(hands.place("/webhooks"), hands.click("main .list a"))

        yield* hands.place("/sandbox")
        yield* hands.click("main a[href$='/webhooks/new?to=sandbox']")
        yield* page.until(`document.querySelector("main [name=url]")?.value.includes("/sandbox/receiver/") === true`)
        yield* hands.click(submit)
        yield* page.until(titled("Your new webhook"))
        yield* hands.click("main a.button.main")
        yield* page.until(shows("It answers 204."))
        yield* hands.click("main #receiver ~ .buttons button")
        yield* page.until(shows("It answers 500 until"))
        assert.strictEqual(hands.clicks(), 5)

        yield* send("Hello")
        yield* openWebhook
        yield* page.until(shows("500"))
        // In place of the three minutes of its retries.
        yield* eventually(
          Effect.andThen(
            sql`update webhook_queue set due_at = now() - interval '1 minute' where status = 'retrying' and due_at > now()`,
            page.evaluate(shows("Deliveries kept failing"))
          ),
          (isUnhealthy) => isUnhealthy === true,
          longer.turn
        )
        yield* hands.click("main #receiver ~ .buttons button")
        yield* page.until(shows("It answers 204."))
        yield* hands.click("main .head form button.main")
        yield* page.until(`${shows("Deliveries kept failing")} === false && ${shows("Disable")}`)
        yield* hands.click("main a[href$='/recover']")
        yield* hands.click(submit)
        yield* page.until(shows("completed"))
        assert.strictEqual(hands.clicks(), 5 + 2 + 2 + 4)
      })
  )
})
