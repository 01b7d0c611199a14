/** Messages, batches and templates in a real browser: a person sends, reads what became of it, and cancels. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { connectedSession } from "../contract/samples.ts"
import { insertDomain } from "../support/bulkMail.ts"
import { chromium } from "../support/Chromium.ts"
import { look, said, shows, submit, titled, type, visitor } from "../support/look.ts"
import { bringForward, schedule } from "../support/scheduled.ts"
import { eventually, Service } from "../support/Service.ts"
import { longer } from "../support/waiting.ts"

/** A session that is connected, as far as the database knows. */
const insertSession = Effect.fnUntraced(function*(accountId: number) {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.orDie(
    sql`insert into whatsapp_sessions (account_id, session_key, name, status, is_confirmed, is_paired, data_key)
      values (${accountId}, 'wa_console', 'Shop', 'connected', true, true, 'k')`
  )
})

layer(Service.layer(), { excludeTestServices: true })("messages in the console", (it) => {
  it.effect.skipIf(chromium === undefined)(
    "a person sends a mail that arrives and one that bounces, finds both, reads why, and takes the address off the list",
    () =>
      Effect.gen(function*() {
        const { at, page } = yield* visitor
        yield* page.open(`${at}/messages`)
        yield* page.until(shows("No messages yet"))
        yield* look(page, "messages-empty")
        yield* page.click("main .empty a.main")
        yield* page.until(titled("Send a message"))
        yield* look(page, "send")
        yield* type(page, "to", "ada")
        yield* page.click(submit)
        yield* page.until(`document.querySelector("#f-to[aria-invalid]") !== null`)
        assert.strictEqual(yield* page.evaluate(`document.querySelector("#f-to").value`), "ada")
        yield* look(page, "send-refused")
        yield* type(page, "to", "ada@example.com")
        yield* type(page, "subject", "Your receipt <img src=x onerror=alert(1)>")
        yield* type(page, "text", "Thank you.")
        yield* type(page, "tags", "receipt shop")
        yield* page.click(submit)
        yield* page.until(titled("Email to ada@example.com"))
        yield* page.until(shows("The service accepted the message."))
        yield* Effect.andThen(page.evaluate("location.reload()"), page.until(shows("Facts")))
        yield* look(page, "message")
        yield* page.open(`${at}/send?channel=email&to=bounce@example.com`)
        yield* type(page, "subject", "To a missing mailbox")
        yield* type(page, "text", "Hello.")
        yield* page.click(submit)
        yield* page.until(titled("Email to bounce@example.com"))
        const path = String(yield* page.evaluate("location.href"))
        yield* eventually(
          Effect.andThen(page.open(path), page.evaluate(shows("Refused for good"))),
          (isThere) => isThere === true,
          longer.start
        )
        yield* page.until(shows("550 5.1.1"))
        yield* look(page, "message-bounced")
        yield* page.click("main .head form.inline button")
        yield* page.until(shows("The address gets mail again"))
        yield* page.open(`${at}/send?channel=email&to=defer@example.com`)
        yield* type(page, "subject", "Later")
        yield* type(page, "text", "Hello.")
        yield* page.click(submit)
        yield* page.until(titled("Email to defer@example.com"))
        const deferred = String(yield* page.evaluate("location.href"))
        yield* eventually(
          Effect.andThen(page.open(deferred), page.evaluate(shows("The next one is due at"))),
          (isThere) => isThere === true,
          longer.start
        )
        yield* page.until(shows("451 4.7.1"))
        yield* look(page, "message-deferred")
        yield* page.open(`${at}/messages?status=bounced`)
        yield* page.until(`document.querySelectorAll("tbody tr").length === 1`)
        yield* page.click("tbody tr a")
        yield* page.until(titled("Email to bounce@example.com"))
        yield* page.open(`${at}/messages`)
        yield* page.until(`document.querySelectorAll("tbody tr").length === 3`)
        yield* page.click(".filter summary")
        yield* look(page, "messages")
        yield* page.evaluate(`document.querySelector("#filter-q").value = "receipt"`)
        yield* page.click(".search .line button")
        yield* page.until(`document.querySelectorAll("tbody tr").length === 1`)
        yield* page.open(`${at}/messages?q=nothing&status=nonsense`)
        yield* page.until(shows("No message matches"))
        yield* page.until(shows("This filter does not exist and was ignored: status."))
        yield* look(page, "messages-none")
        yield* page.click(".chips a")
        yield* page.until(`document.querySelectorAll("tbody tr").length === 3`)
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a person filters by metadata, error code, session, key and sending domain, removes each filter, and follows those of a message",
    () =>
      Effect.gen(function*() {
        const { accountId, at, key, keyId, node, page } = yield* visitor
        const sql = yield* SqlClient.SqlClient
        const session_id = yield* connectedSession(node.request, key)
        const metadata = { order: "A-17", shop: "<3>" }
        for (
          const [path, json] of [
            ["/v1/whatsapp/send", { session_id, to: "+15550100301", type: "text", content: { body: "Hola" } }],
            ["/v1/sms/send", { to: "+250788123456", content: "Ready", tags: ["booking"], metadata }],
            ["/v1/sms/send", { to: "+250788123457", content: "Other", metadata: { order: "A-18" } }]
          ] as const
        ) {
          assert.strictEqual((yield* node.request("POST", path, { key, json })).status, 202)
        }
        yield* sql`update messages set status = 'failed', error_code = 'rejected', failed_at = now()
          where account_id = ${accountId} and recipient = '+250788123457'`
        const rows = (count: number) => page.until(`document.querySelectorAll("tbody tr").length === ${count}`)
        const chips = (texts: ReadonlyArray<string>) =>
          page.until(
            `JSON.stringify([...document.querySelectorAll(".chips a")].map((chip) => chip.textContent)) === ${
              JSON.stringify(JSON.stringify(texts))
            }`
          )
        const filter = (name: string, value: string) =>
          Effect.all([
            page.click(".filter summary"),
            page.evaluate(`document.querySelector("#filter-${name}").value = ${JSON.stringify(value)}`),
            page.click(".filter .buttons button")
          ])
        const removeFilter = page.click(".chips a")
        yield* page.open(`${at}/messages`)
        yield* rows(3)
        yield* filter("metadata", "order=A-17")
        yield* rows(1)
        yield* chips(["order: A-17"])
        yield* filter("metadata", "shop=<3>")
        yield* chips(["order: A-17", "shop: <3>"])
        yield* page.click(".filter summary")
        yield* look(page, "messages-filtered")
        yield* page.click("tbody tr a")
        yield* page.until(titled("SMS to +250788123456"))
        yield* page.click(".facts a[href*='order']")
        yield* rows(1)
        yield* chips(["order: A-17"])
        yield* removeFilter
        yield* rows(3)
        yield* filter("error_code", "rejected")
        yield* rows(1)
        yield* chips(["Error code: rejected"])
        yield* page.until(shows("+250788123457"))
        yield* removeFilter
        yield* rows(3)
        yield* filter("session_id", String(session_id))
        yield* rows(1)
        yield* page.until(`document.querySelector(".chips a").textContent.startsWith("Session: ")`)
        yield* removeFilter
        yield* rows(3)
        yield* filter("key_id", String(keyId))
        yield* chips(["API key: Test"])
        yield* rows(3)
        yield* filter("domain", "other.example")
        yield* chips(["Sending domain: other.example", "API key: Test"])
        yield* page.until(shows("No message matches"))
        yield* page.click(".filter summary")
        yield* look(page, "messages-origin")
        yield* page.open(`${at}/messages?domain=a@b&key_id=x`)
        yield* page.until(shows("This filter does not exist and was ignored: domain, key_id."))
        yield* page.open(`${at}/messages?metadata=order&metadata[a]=%00`)
        yield* page.until(shows("This filter does not exist and was ignored: metadata."))
        yield* rows(3)
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a person sends an SMS, learns that no session is connected, and reads the failures of a batch by reason",
    () =>
      Effect.gen(function*() {
        const { at, key, node, page } = yield* visitor
        yield* page.open(`${at}/send?channel=whatsapp`)
        yield* page.until(shows("No WhatsApp session is connected"))
        yield* look(page, "send-whatsapp")
        yield* page.open(`${at}/send?channel=sms`)
        yield* type(page, "to", "+250 788 123 456")
        yield* type(page, "content", "Your table is ready.")
        yield* page.click(submit)
        yield* page.until(titled("SMS to +250788123456"))
        yield* look(page, "message-sms")
        yield* page.click("main .head a[href*=again]")
        yield* page.until(titled("Send a message"))
        assert.strictEqual(yield* page.evaluate(`document.querySelector("#f-content").value`), "Your table is ready.")
        yield* page.open(`${at}/batches`)
        yield* page.until(shows("No batches yet"))
        yield* look(page, "batches-empty")
        const { at: part } = yield* node.request("POST", "/v1/email/send-bulk", {
          key,
          json: {
            subject: "Hello {{name}}",
            text: "Hello.",
            recipients: ["ada", "bounce", "bounce2"].map((name) => ({ to: `${name}@example.com`, variables: { name } }))
          }
        })
        const id = String(part("data", "batch_id"))
        yield* eventually(
          Effect.andThen(
            page.open(`${at}/batches/email/${id}`),
            page.evaluate("document.querySelector('main:not([data-live])') !== null")
          ),
          (isThere) => isThere === true,
          longer.start
        )
        yield* page.until(titled("Batch of 3 recipients"))
        yield* page.until(shows("2 messages of 3 did not reach the recipient."))
        yield* page.until(shows("550 5.1.1"))
        yield* look(page, "batch")
        const csv = String(
          yield* page.evaluate(
            `fetch(document.querySelector("main .head a[href*='format=csv']").href).then((r) => r.text())`
          )
        )
        assert.strictEqual(csv.trim().split("\r\n").length, 4)
        assert.include(csv, "bounce2@example.com")
        yield* page.click("main .head a[href$='/again']")
        yield* page.until(`document.querySelector("dialog[open] form button.main") !== null`)
        yield* look(page, "batch-again")
        yield* page.click("dialog form button.main")
        yield* page.until(shows("The new batch was accepted."))
        yield* page.until(titled("Batch of 2 recipients"))
        yield* page.open(`${at}/batches/email/${id}`)
        yield* page.until(shows("Sent again as"))
        yield* page.until(`document.querySelector("main .head a[href$='/again']") === null`)
        yield* page.click(".crumbs a")
        yield* page.until(`document.querySelectorAll("tbody tr").length === 2`)
        yield* look(page, "batches")
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a person writes a template, sees it with values in a locked frame, sends with it, changes it, restores it, and deletes it",
    () =>
      Effect.gen(function*() {
        const { at, page } = yield* visitor
        yield* page.open(`${at}/templates`)
        yield* page.until(shows("No templates yet"))
        yield* look(page, "templates-empty")
        yield* page.click("main .empty a.main")
        yield* page.until(titled("New template"))
        yield* type(page, "name", "Receipt")
        yield* type(page, "subject", "Your receipt, {{name}}")
        yield* type(page, "html", "<h1>Dear {{name}</h1>")
        yield* page.click(submit)
        yield* page.until(`document.querySelector("#f-html[aria-invalid]") !== null`)
        yield* page.until(`document.querySelector(".excerpt mark")?.textContent === "{{name}</h1>"`)
        yield* look(page, "template-refused")
        const script = `<script>parent.document.title = "run"</script><img src="https://example.com/x.png">`
        yield* type(
          page,
          "html",
          `<h1 style="color: #3450d6">Dear {{name}},</h1><p>thank you for {{order.id}}.</p>${script}`
        )
        yield* page.evaluate(`document.querySelector("iframe[name=draft]").onload = () => document.body.id = "drafted"`)
        yield* page.click("main form.form button[formtarget]")
        yield* page.until(`document.querySelector("body#drafted") !== null && ${titled("New template")}`)
        yield* page.click(submit)
        yield* page.until(titled("Receipt"))
        yield* page.until(`document.querySelector("iframe.mail") !== null`)
        yield* look(page, "template")
        yield* page.evaluate(`document.querySelector("[name='v.name']").value = "Ada & Co"`)
        yield* page.click("main form.form button")
        yield* page.until(shows("Your receipt, Ada & Co"))
        const frame = yield* page.evaluate(
          `fetch(document.querySelector("iframe.mail").src).then(async (answer) =>
            [answer.headers.get("content-security-policy"), await answer.text()].join("|"))`
        )
        assert.match(String(frame), /^default-src 'none'; .*; sandbox\|/)
        assert.include(String(frame), "Dear Ada &amp; Co,")
        assert.include(String(frame), "{{order.id}}")
        assert.notInclude(String(yield* page.evaluate("document.title")), "run")
        yield* page.click(".tabs a[href*='view=plain']")
        yield* page.until(`document.querySelector("pre.mail-text")?.textContent.includes("Ada & Co") === true`)
        yield* look(page, "template-text")
        const here = String(yield* page.evaluate("location.href"))
        yield* page.click("main .head form.inline button")
        yield* page.until(`document.querySelector("#f-variables[aria-invalid]") !== null`)
        const me = String(yield* page.evaluate(`document.querySelector("#f-to").value`))
        assert.match(me, /@people\.example$/)
        assert.match(
          String(yield* page.evaluate(`document.querySelector("#f-variables").value`)),
          /^name = Ada & Co\norder\.id =/
        )
        yield* page.open(here.replace("?", "?v.order.id=A-17&"))
        yield* page.click("main .head form.inline button")
        yield* page.until(titled(`Email to ${me}`))
        yield* page.until(shows("Your receipt, Ada & Co"))
        yield* page.open(here)
        yield* page.click("main .head .buttons a[href*='/send']")
        yield* page.until(shows("This mail uses the template Receipt."))
        yield* look(page, "send-template")
        yield* type(page, "to", "ada@example.com")
        yield* page.click(submit)
        yield* page.until(`document.querySelector("#f-variables[aria-invalid]") !== null`)
        yield* type(page, "variables", "name = Ada\norder.id = A-17")
        yield* page.click(submit)
        yield* page.until(titled("Email to ada@example.com"))
        yield* page.until(shows("Your receipt, Ada"))
        yield* page.open(`${at}/templates`)
        yield* page.until(`document.querySelectorAll("tbody tr").length === 1`)
        yield* look(page, "templates")
        yield* page.click("tbody a")
        yield* page.until(titled("Receipt"))
        yield* page.click("main .head a.main")
        yield* page.until(titled("Edit Receipt"))
        yield* type(page, "name", "Receipt, new")
        yield* type(page, "subject", "For {{name}}")
        yield* page.click(submit)
        yield* page.until(titled("Receipt, new"))
        yield* page.until(shows("For {{name}}"))
        yield* page.click("main .head a[href$='/versions']")
        yield* page.until(titled("Versions of Receipt, new"))
        yield* look(page, "template-versions")
        yield* page.click("tbody a")
        yield* page.until(shows("Your receipt, {{name}}"))
        yield* look(page, "template-version")
        const before = yield* page.evaluate(
          `fetch(document.querySelector("iframe.mail").src).then(async (answer) =>
            [answer.headers.get("content-security-policy"), await answer.text()].join("|"))`
        )
        assert.match(String(before), /^default-src 'none'; .*; sandbox\|.*Dear {{name}},/s)
        yield* page.click("main .head form.inline button")
        yield* page.until(titled("Receipt, new"))
        yield* page.until(said("The version was restored. Mail accepted before does not change."))
        yield* page.until(shows("Your receipt, {{name}}"))
        yield* page.click("main .head a[href*='copy=']")
        yield* page.until(titled("New template"))
        yield* page.click(submit)
        yield* page.until(titled("Copy of Receipt, new"))
        yield* page.until(shows("Your receipt, {{name}}"))
        yield* page.click("a[data-dialog]")
        yield* page.click("dialog form button.danger")
        yield* page.until(shows("The template was deleted."))
      })
  )
})

layer(Service.layer(), { excludeTestServices: true })("forms that send in the console", (it) => {
  it.effect.skipIf(chromium === undefined)(
    "a message with a half-typed time is not sent",
    () =>
      Effect.gen(function*() {
        const { at, key, node, page } = yield* visitor
        yield* page.open(`${at}/send?channel=sms`)
        yield* type(page, "to", "+250788123456")
        yield* type(page, "content", "Tomorrow at nine.")
        yield* page.evaluate(`document.querySelector("#f-send_at").focus()`)
        yield* page.command("Input.dispatchKeyEvent", { type: "char", text: "1" })
        yield* page.until(`document.querySelector("#f-send_at").validity.badInput`)
        yield* page.evaluate(
          `document.addEventListener("invalid", () => (document.body.dataset.refused = "yes"), true)`
        )
        yield* page.click(submit)
        yield* page.until(`document.body.dataset.refused === "yes"`)
        const { json } = yield* node.request("GET", "/v1/sms/messages", { key })
        assert.deepStrictEqual(Object(json).data, [])
        yield* page.evaluate(`document.querySelector("#f-send_at").value = ""`)
        yield* type(page, "to", "")
        yield* page.click(submit)
        yield* page.until(`document.querySelector("#f-to[aria-invalid]") !== null`)
        yield* page.until(shows("This field is required."))
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a person writes to a contact, to a group and again from the session that knows them, and chooses another if it is away",
    () =>
      Effect.gen(function*() {
        const { at, key, node, page } = yield* visitor
        const sql = yield* SqlClient.SqlClient
        const first = yield* connectedSession(node.request, key)
        const second = yield* connectedSession(node.request, key)
        const chosen = `document.querySelector("#f-session_id").value`
        for (const id of [first, second]) {
          yield* sql`insert into whatsapp_contacts (session_id, phone, name) values (${id}, '15550100900', 'Ada')`
          yield* page.open(`${at}/whatsapp/${id}/contacts`)
          yield* page.click("td a[href*='/send']")
          yield* page.until(titled("Send a message"))
          assert.strictEqual(yield* page.evaluate(chosen), String(id))
        }
        assert.strictEqual(yield* page.evaluate(`document.querySelector("#f-to").value`), "+15550100900")
        yield* sql`insert into whatsapp_groups (session_id, jid, name) values (${second}, '120363@g.us', 'Team')`
        yield* page.open(`${at}/whatsapp/${second}/groups`)
        yield* page.click(".list a")
        yield* page.click("main .head a[href*='/send']")
        yield* page.until(shows("This message goes to the group Team."))
        yield* look(page, "send-group")
        yield* type(page, "content", "Hello, team.")
        yield* page.click(submit)
        yield* page.until(titled("WhatsApp to 120363@g.us"))
        yield* page.click("main .head a[href*=again]")
        yield* page.until(titled("Send a message"))
        assert.strictEqual(yield* page.evaluate(chosen), String(second))
        const place = { latitude: -1.95, longitude: 30.06, name: "The shop" }
        const json = { session_id: second, to: "+15550100301", type: "location", content: place }
        const { at: part } = yield* node.request("POST", "/v1/whatsapp/send", { key, json })
        const again = `${at}/send?channel=whatsapp&again=${String(part("data", "id"))}`
        yield* page.open(again)
        yield* look(page, "send-again-place")
        yield* page.click(submit)
        yield* page.until(titled("WhatsApp to +15550100301"))
        const { json: sent } = yield* node.request("GET", "/v1/whatsapp/messages?to=%2B15550100301", { key })
        for (const { content, session_id, type: kind } of Object(sent).data) {
          assert.deepStrictEqual([kind, session_id], ["location", second])
          assert.deepStrictEqual(content, { body: "The shop", ...place })
        }
        assert.lengthOf(Object(sent).data, 2)
        yield* sql`update whatsapp_sessions set status = 'disconnected' where id = ${second}`
        yield* page.open(again)
        yield* page.until(shows("The session of this message is not connected."))
        yield* look(page, "send-session-away")
        assert.strictEqual(yield* page.evaluate(chosen), "")
        yield* page.click(submit)
        yield* page.until(`document.querySelector("#f-session_id[aria-invalid]") !== null`)
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a message is sent again with its own content, sender and recipients",
    () =>
      Effect.gen(function*() {
        const { accountId, at, key, node, page } = yield* visitor
        const sql = yield* SqlClient.SqlClient
        yield* insertDomain(accountId, `mail${accountId}.example`)
        const from = `"Shop, Ltd" <us@mail${accountId}.example>`
        const mail = {
          to: ["ada@example.com", "bob@example.com"],
          cc: ["carl@example.com"],
          bcc: ["dora@example.com"],
          from,
          reply_to: "Orders <orders@example.com>",
          subject: "Receipt for {{name}}",
          html: "<p>Dear {{name}}</p>",
          variables: { name: "Ada" },
          metadata: { order: "1001" }
        }
        const send = (path: string, json: unknown) => node.request("POST", path, { key, json })
        const { at: part } = yield* send("/v1/email/send", mail)
        const id = String(part("data", "id"))
        yield* page.open(`${at}/messages/email/${id}`)
        yield* page.until(shows("Cc"))
        yield* page.until(shows("Bcc"))
        yield* look(page, "message-recipients")
        yield* page.click("main .head a[href*=again]")
        yield* page.until(titled("Send a message"))
        yield* look(page, "send-again")
        const value = (name: string) => page.evaluate(`document.querySelector("#f-${name}").value`)
        const values = yield* Effect.forEach(["to", "cc", "bcc", "from", "subject", "html"], value)
        assert.deepStrictEqual(values, [
          "ada@example.com, bob@example.com",
          "carl@example.com",
          "dora@example.com",
          from,
          "Receipt for Ada",
          "<p>Dear Ada</p>"
        ])
        yield* page.click(submit)
        yield* page.until(titled("Email to ada@example.com and 1 other"))
        const path = String(yield* page.evaluate("location.pathname"))
        const again = path.split("/").at(-1) ?? ""
        const read = (rest: string) =>
          Effect.map(node.request("GET", `/v1/email/messages/${rest}`, { key }), (answer) => answer.at("data"))
        assert.deepStrictEqual(yield* read(`${again}/content`), yield* read(`${id}/content`))
        const { metadata } = (yield* read(again)) as { readonly metadata: unknown }
        assert.deepStrictEqual(metadata, mail.metadata)
        const { at: sms } = yield* send("/v1/sms/send", { to: "+250788123456", content: "Ready", sender_id: "Shop" })
        yield* page.open(`${at}/send?channel=sms&again=${String(sms("data", "id"))}`)
        assert.deepStrictEqual(yield* Effect.forEach(["to", "content", "sender_id"], value), [
          "+250788123456",
          "Ready",
          "Shop"
        ])
        yield* sql`delete from email_contents where id = ${Number(id)}`
        yield* page.open(`${at}/send?channel=email&again=${id}`)
        yield* page.until(shows("A part of the content is missing here."))
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "the page of a message leads to the domain that was lost before the mail was due, and to the session that a message waits for",
    () =>
      Effect.gen(function*() {
        const { accountId, at, key, node, page } = yield* visitor
        const sql = yield* SqlClient.SqlClient
        const domain = `mail${accountId}.example`
        yield* insertDomain(accountId, domain)
        const body = { to: "ada@example.com", from: `Shop <us@${domain}>`, subject: "Hello", text: "Hello." }
        const { at: part } = yield* schedule(node, { key, path: "/v1/email/send", body })
        const email = String(part("data", "id"))
        yield* sql`update email_domains set status = 'pending' where account_id = ${accountId}`
        yield* bringForward("email", { id: email })
        yield* eventually(
          node.request("GET", `/v1/email/messages/${email}`, { key }),
          (read) => read.at("data", "status") === "failed"
        )
        yield* page.open(`${at}/messages/email/${email}`)
        yield* page.until(
          shows("Not sent: the domain of the sender was not verified when the message was due.")
        )
        assert.isFalse(yield* page.evaluate(shows("The other side said")))
        yield* look(page, "message-domain-lost")
        yield* page.click("main .why .buttons a")
        yield* page.until(titled(domain))
        yield* page.until(shows("Check now"))
        const [waiting] = yield* sql`with s as (
            insert into whatsapp_sessions (account_id, session_key, name, status, is_confirmed, desired, reason, data_key)
            values (${accountId}, 'wa_away', 'Shop', 'failed', true, 'off', 'retries_exhausted', 'k') returning id
          )
          insert into messages (account_id, channel, session_id, direction, recipient, content, status)
          select ${accountId}, 'whatsapp', id, 'out', '+250788123456', '{"body": "Ready."}', 'queued' from s
          returning id`
        yield* page.open(`${at}/messages/whatsapp/${String(waiting?.["id"])}`)
        yield* page.until(shows("The WhatsApp session Shop has failed. Pair its phone again."))
        yield* page.until(shows("The message waits until the session is connected."))
        yield* look(page, "message-session-away")
        yield* page.click("main .why .buttons a")
        yield* page.until(titled("Shop"))
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "the page of a message says why an action was refused, saves the message as JSON, and leads to those received",
    () =>
      Effect.gen(function*() {
        const { accountId, at, key, node, page } = yield* visitor
        const sql = yield* SqlClient.SqlClient
        yield* node.request("POST", "/v1/email/suppressions", { key, json: { email: "gone@example.com" } })
        const json = { to: "gone@example.com", subject: "Hello", text: "Hello." }
        const { at: part } = yield* node.request("POST", "/v1/email/send", { key, json })
        const id = String(part("data", "id"))
        yield* page.open(`${at}/messages/email/${id}`)
        const { text } = yield* node.request("GET", `/v1/email/messages/${id}`, { key })
        const saved = yield* page.evaluate(
          `fetch(document.querySelector("main .head a[href*='format=json']").href).then(async (answer) =>
            [answer.headers.get("content-type"), answer.headers.get("content-disposition"), await answer.text()])`
        )
        const [type, disposition, body] = saved as ReadonlyArray<string>
        assert.strictEqual(type, "application/json")
        assert.strictEqual(disposition, `attachment; filename="email-${id}.json"`)
        assert.deepStrictEqual(JSON.parse(body ?? ""), JSON.parse(text))
        yield* node.request("DELETE", "/v1/email/suppressions/gone@example.com", { key })
        yield* page.click("main .why form.inline button")
        yield* page.until(`document.querySelector("main .problem[role=alert]") !== null`)
        yield* look(page, "message-refused")
        yield* sql`insert into messages (account_id, channel, direction, sender, recipient, type, status, content)
          values (${accountId}, 'sms', 'in', '+250788123456', '+250788000000', 'text', 'received', '{"body": "Thanks"}')`
        const file = yield* page.evaluate(
          `fetch("${at}/messages?direction=in&format=csv").then((answer) => answer.text())`
        )
        assert.include(String(file), ",sms,in,received,\"'+250788123456\",\"'+250788000000\",Thanks,")
        yield* page.open(`${at}/messages`)
        yield* page.click(".filter summary")
        yield* page.evaluate(`document.querySelector("#filter-direction").value = "in"`)
        yield* page.click(".filter .buttons button")
        yield* page.until(`document.querySelectorAll("tbody tr").length === 1`)
        yield* page.until(`document.querySelector(".chips a").textContent === "Direction: received"`)
        yield* page.until(`document.querySelector("tbody a").textContent === "From +250788123456"`)
        yield* page.open(`${at}/find?q=Thanks`)
        yield* page.until(`document.querySelector("tbody a").textContent === "From +250788123456"`)
      })
  )
})

layer(Service.layer({ env: { PAUSED: "true" } }), { excludeTestServices: true })(
  "messages that wait, in the console",
  (it) => {
    it.effect.skipIf(chromium === undefined)(
      "a person writes on WhatsApp, reads that the message waits, and cancels a batch, without scripts",
      () =>
        Effect.gen(function*() {
          const { accountId, at, key, node, page } = yield* visitor
          yield* insertSession(accountId)
          yield* page.command("Emulation.setScriptExecutionDisabled", { value: true })
          yield* page.open(`${at}/send?channel=whatsapp`)
          assert.strictEqual(yield* page.evaluate(`document.querySelector("#f-session_id option").textContent`), "Shop")
          yield* page.click(submit)
          yield* page.until(`document.querySelector("#f-to[aria-invalid]") !== null`)
          yield* type(page, "to", "+250788123456")
          yield* type(page, "content", "Your table is ready.")
          yield* page.click(submit)
          yield* page.until(titled("WhatsApp to +250788123456"))
          yield* page.until(shows("the session Shop sends one message after the other."))
          yield* page.until(shows("Your table is ready."))
          yield* page.click("main .head a.danger")
          yield* page.until(titled("Cancel this message?"))
          yield* page.click("main form button.danger")
          yield* page.until(shows("The message was canceled."))
          yield* page.until(shows("It was canceled before it was sent."))
          yield* page.open(`${at}/send?channel=sms`)
          yield* type(page, "to", "+250788123456")
          yield* type(page, "content", "Tomorrow at nine.")
          const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 16)
          const moved = inDays(3)
          yield* type(page, "send_at", inDays(2))
          yield* page.click(submit)
          yield* page.until(shows("It waits until"))
          yield* page.click("main .head a[href$='/reschedule']")
          yield* page.until(titled("Change the time of this message"))
          yield* type(page, "send_at", "2020-01-01T00:00")
          yield* page.click(submit)
          yield* page.until(`document.querySelector("#f-send_at[aria-invalid]") !== null`)
          yield* type(page, "send_at", moved)
          yield* page.click(submit)
          yield* page.until(shows("The message has a new time."))
          const { json: scheduled } = yield* node.request("GET", "/v1/sms/messages", { key })
          const [{ send_at }] = (scheduled as { readonly data: readonly [{ readonly send_at: string }] }).data
          assert.strictEqual(send_at.slice(0, 16), moved)
          const { at: part } = yield* node.request("POST", "/v1/email/send-bulk", {
            key,
            json: { subject: "Hello", text: "Hello.", recipients: ["ada@example.com", "eve@example.com"] }
          })
          yield* page.open(`${at}/batches/email/${String(part("data", "batch_id"))}`)
          yield* page.until(shows("2 messages are left."))
          yield* page.click("main .head a.danger")
          yield* page.until(titled("Cancel this batch?"))
          yield* page.until(shows("2 messages wait and would not be sent."))
          yield* page.click("main form button.danger")
          yield* page.until(shows("The batch was canceled."))
          yield* page.until(shows("It was canceled. 0 messages had been sent."))
          yield* page.command("Emulation.setScriptExecutionDisabled", { value: false })
          yield* page.open(`${at}/messages?status=canceled`)
          yield* page.until(`document.querySelectorAll("tbody tr").length === 3`)
          yield* page.click("tbody a")
          yield* page.until(shows("It was canceled before it was sent."))
          yield* look(page, "message-canceled")
          yield* page.open(`${at}/messages?status=scheduled`)
          yield* page.click("tbody a")
          yield* page.click("main .head a[href$='/reschedule']")
          yield* page.until(`document.querySelector("dialog[open] input[type=datetime-local]") !== null`)
          yield* look(page, "message-reschedule")
          const many = Array.from({ length: 60 }, (_, index) => `reader${index}@example.com`)
          yield* node.request("POST", "/v1/email/send-bulk", {
            key,
            json: { subject: "News", text: "Hello.", recipients: many }
          })
          yield* page.open(`${at}/messages?q=news`)
          yield* page.until(`document.querySelectorAll("tbody tr").length === 50`)
          yield* look(page, "messages-many")
          yield* page.click(".pager a[rel=next]")
          yield* page.until(`document.querySelectorAll("tbody tr").length === 10`)
          yield* page.click(".pager a")
          yield* page.until(`document.querySelectorAll("tbody tr").length === 50`)
        })
    )
  }
)
