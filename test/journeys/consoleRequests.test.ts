/** The log of requests and the search for everything in a real browser, with the clicks that a person needs. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { samples } from "../contract/samples.ts"
import { type BrowserPage, chromium } from "../support/Chromium.ts"
import { look, shows, titled, visitor } from "../support/look.ts"
import { eventually, type RunningNode, Service } from "../support/Service.ts"

/** Types into the search of the header, and presses Enter: one click. */
const find = Effect.fnUntraced(function*(page: BrowserPage, text: string) {
  yield* page.evaluate(`(() => {
    const field = document.querySelector("header form.find input")
    field.value = ${JSON.stringify(text)}
    field.form.requestSubmit()
  })()`)
})

/** The list has at least these requests. */
const logged = (node: RunningNode, key: string, count: number) =>
  eventually(
    node.request("GET", "/v1/requests", { key }),
    ({ at }) => Array.isArray(at("data")) && Object(at("data")).length >= count
  )

const rows = (count: number) => `document.querySelectorAll("main tbody tr").length === ${count}`

layer(Service.layer(), { excludeTestServices: true })("requests in the console", (it) => {
  it.effect.skipIf(chromium === undefined)(
    "a person pastes the id of a refused request, and reads after one click why it was refused",
    () =>
      Effect.gen(function*() {
        const { at, key, node, page } = yield* visitor
        yield* page.open(`${at}/requests`)
        yield* page.until(shows("No requests yet"))
        yield* look(page, "requests-empty")
        const json = { to: ["ada@example.com", "ada@"], subject: "Hello" }
        const refused = yield* node.request("POST", "/v1/email/send", { key, json })
        assert.strictEqual(refused.status, 422)
        const sent = yield* node.request("POST", "/v1/email/send", { key, json: samples["POST /v1/email/send"] })
        yield* node.request("DELETE", "/v1/webhooks/999999999", { key })
        yield* node.request("DELETE", "/v1/webhooks/999999998", { key })
        yield* logged(node, key, 4)
        yield* page.open(`${at}/`)
        yield* find(page, ` ${refused.headers["x-request-id"]} `)
        yield* page.until(titled("POST /v1/email/send"))
        yield* page.until(shows("The request was refused with status 422: "))
        yield* page.until(shows("to[1]"))
        yield* look(page, "request-refused")
        const copied = yield* page.evaluate(`document.querySelector(".head [data-copy]").dataset.copy`)
        assert.match(String(copied), /\/requests\/[0-9a-f-]{36}$/)
        yield* page.open(`${at}/requests/${sent.headers["x-request-id"]}`)
        yield* page.until(shows("The request succeeded with status"))
        yield* look(page, "request-made")
        yield* page.click("#made ~ p a")
        yield* page.until(titled("Email to ada@example.com"))
        // One click copies the link to the case.
        yield* page.evaluate("navigator.clipboard.writeText = async (text) => void (window.copied = text)")
        yield* page.click(".head [data-copy]")
        yield* page.until("window.copied === location.href")
        yield* page.open(`${at}/requests`)
        yield* page.until(shows("Refused most often"))
        yield* page.click(".filter summary")
        yield* look(page, "requests")
        yield* page.click("main table ~ h2 ~ table tbody a")
        yield* page.until(rows(2))
        yield* page.until(`document.querySelectorAll(".chips a").length === 3`)
        yield* page.open(`${at}/requests?lang=ar`)
        yield* page.until(rows(6))
        yield* look(page, "requests-ar")
        yield* page.open(`${at}/requests/${refused.headers["x-request-id"]}?lang=ar`)
        yield* page.until(rows(1))
        yield* look(page, "request-refused-ar")
        yield* page.open(`${at}/requests?status=5xx&method=NONE`)
        yield* page.until(shows("No request matches"))
        yield* page.until(shows("This filter does not exist and was ignored: method."))
        yield* look(page, "requests-none")
        yield* page.open(`${at}/requests?request_id=${refused.headers["x-request-id"]}`)
        yield* page.until(titled("POST /v1/email/send"))
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a person finds a message in two clicks by an address or a number, and everything with an id in one",
    () =>
      Effect.gen(function*() {
        const { accountId, at, key, node, page } = yield* visitor
        const sql = yield* SqlClient.SqlClient
        const post = (path: string, json: unknown) => node.request("POST", path, { key, json })
        const mail = yield* post("/v1/email/send", { to: "ada@example.com", subject: "Your receipt", text: "Thanks." })
        const text = yield* post("/v1/sms/send", { to: "+250788123456", content: "Your table is ready." })
        const batch = yield* post("/v1/email/send-bulk", samples["POST /v1/email/send-bulk"])
        const template = yield* post("/v1/email/templates", { name: "Welcome", subject: "Hi", html: "<p>Hi</p>" })
        const codes = yield* post("/v1/verify/send", { to: "grace@example.com", channel: "email" })
        const webhook = yield* post("/v1/webhooks", samples["POST /v1/webhooks"])
        yield* post("/v1/email/suppressions", { email: "gone@example.com" })
        const [delivery] = yield* sql`with given as materialized (
            select ${Number(webhook.at("data", "id"))}::bigint as webhook_id, nextval('webhook_delivery_ids') as id,
              'evt_' || ulid_time(now()) || 'NDEKTSV4RRFFQ69G' as event_id
          ), event as (
            insert into events (id, account_id, name, body, webhook_ids, delivery_ids)
            select event_id, ${accountId}, 'email.sent', '{}', array[webhook_id], array[id] from given
          ), queued as (
            insert into webhook_queue (webhook_id, id, event_id, event, status, due_at)
            select webhook_id, id, event_id, 'email.sent', 'retrying', now() + interval '1 hour' from given
          )
          select id, event_id from given`
        const started = `${at}/`

        yield* page.open(started)
        yield* find(page, "ada@")
        yield* page.until(shows("Your receipt"))
        yield* look(page, "find-messages")
        yield* page.click("main tbody a")
        yield* page.until(titled("Email to ada@example.com"))

        for (const spelled of ["+250 788 123 456", "00250788123456", "0788-123-456"]) {
          yield* page.open(started)
          yield* find(page, spelled)
          yield* page.until(shows("Your table is ready."))
        }

        const refused = yield* post("/v1/email/send", {
          to: "Nora@example.com",
          cc: "nora@",
          subject: "Hi",
          text: "Hi"
        })
        assert.strictEqual(refused.status, 422)
        yield* logged(node, key, 8)
        yield* page.open(started)
        yield* find(page, "nora@example.com")
        yield* page.until(titled("POST /v1/email/send"))
        yield* page.open(`${at}/requests?recipient=nora@example.com`)
        yield* page.until(rows(1))
        yield* page.click(".filter summary")
        yield* look(page, "requests-recipient")
        yield* post("/v1/email/send", { to: "Nora@example.com" })
        yield* logged(node, key, 9)
        yield* page.open(started)
        yield* find(page, "NORA@example.com")
        yield* page.until(shows("refused request"))
        yield* look(page, "find-refused")

        const pages: ReadonlyArray<readonly [id: string, path: string]> = [
          [`email ${mail.at("data", "id")}`, `/messages/email/${mail.at("data", "id")}`],
          [`sms/${text.at("data", "message_id")}`, `/messages/sms/${text.at("data", "message_id")}`],
          [String(batch.at("data", "batch_id")), `/batches/email/${batch.at("data", "batch_id")}`],
          [String(template.at("data", "id")), `/templates/${template.at("data", "id")}`],
          [`webhook ${webhook.at("data", "id")}`, `/webhooks/${webhook.at("data", "id")}`],
          [
            String(delivery?.["event_id"]),
            `/webhooks/${webhook.at("data", "id")}/deliveries/${delivery?.["id"]}`
          ],
          [`delivery ${delivery?.["id"]}`, `/webhooks/${webhook.at("data", "id")}/deliveries/${delivery?.["id"]}`],
          [`/v1/email/messages/${mail.at("data", "id")}`, `/messages/email/${mail.at("data", "id")}`],
          [String(codes.at("data", "id")), `/verify/${codes.at("data", "id")}`],
          ["domains", "/domains"],
          ["gone@example.com", "/suppressions?email=gone%40example.com"]
        ]
        for (const [id, path] of pages) {
          yield* page.open(started)
          yield* find(page, id)
          yield* page.until(`location.pathname + location.search === ${JSON.stringify(`/console/${accountId}${path}`)}`)
        }

        yield* page.open(`${at}/find?q=welcome`)
        yield* page.until(titled("Welcome"))
        yield* page.open(`${at}/find?q=e`)
        yield* page.until(`document.querySelectorAll("main tbody tr").length > 5`)
        yield* look(page, "find-others")
        yield* page.open(`${at}/find?q=01a1fc14-da7a-77f3-8697-bb5965d54ec7`)
        yield* page.until(shows("No request has this id."))
        yield* look(page, "find-none")
        yield* page.open(`${at}/find?q=ada@&lang=ar`)
        yield* page.until(shows("ada@example.com"))
        yield* look(page, "find-messages-ar")
        yield* page.open(`${at}/find?q=zebrafinch`)
        yield* page.until(shows("Searched: recipients, subjects and texts of messages"))
        yield* page.open(`${at}/find`)
        yield* page.until(titled("Find"))
        yield* look(page, "find")
      })
  )

  it.effect.skipIf(chromium === undefined)("a search finds nothing of another account", () =>
    Effect.gen(function*() {
      const { at, key, node, page } = yield* visitor
      const other = yield* visitor
      const refused = yield* node.request("POST", "/v1/email/send", { key, json: {} })
      yield* logged(node, key, 1)
      yield* page.open(`${at}/find?q=${refused.headers["x-request-id"]}`)
      yield* page.until(titled("POST /v1/email/send"))
      yield* other.page.open(`${other.at}/find?q=${refused.headers["x-request-id"]}`)
      yield* other.page.until(shows("Nothing was found"))
    }))
})
