/** WhatsApp sessions in a real browser: the person who holds the phone pairs it over a link, without a sign-in. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { chromium, openPage } from "../support/Chromium.ts"
import { look, said, shows, submit, titled, type, visitor } from "../support/look.ts"
import { eventually, makeAccount, makeKey, type RunningNode, sandboxToken, Service } from "../support/Service.ts"
import { createSession } from "../support/WhatsApp.ts"

/** What a phone of the sandbox does. */
const phoneDoes = Effect.fnUntraced(
  function*(node: RunningNode, path: string, fields: Readonly<Record<string, string>>) {
    const done = yield* node.request("POST", `/sandbox/phones${path}`, {
      body: new URLSearchParams(fields).toString(),
      headers: { "content-type": "application/x-www-form-urlencoded", authorization: `Bearer ${sandboxToken}` }
    })
    assert.include([200, 303], done.status, done.text)
  }
)

const pathOf = (link: unknown) => URL.parse(String(link))?.pathname ?? ""

const fast = Service.layer({ env: { WHATSAPP_PAUSE_MAX_MS: "0" } })

layer(fast, { excludeTestServices: true })("WhatsApp in the console", (it) => {
  it.effect.skipIf(chromium === undefined)(
    "a person sends a pairing link, and its reader pairs the phone without a sign-in by a typed code",
    () =>
      Effect.gen(function*() {
        const { accountId, at, key, node, origin, page } = yield* visitor
        const { answer: made } = yield* createSession(node, key, "Front desk")
        const id = String(made.at("id"))
        yield* page.open(`${at}/whatsapp/${id}`)
        yield* page.until(`document.querySelector(".pairing img")?.naturalWidth > 0`)
        yield* look(page, "session-pending")
        // Paused, the page keeps its form. Each press copies a link that works from then on.
        yield* page.click("[data-pause]")
        yield* page.evaluate(`navigator.clipboard.write = async ([item]) => {
          window.copied = await (await item.getType("text/plain")).text()
        }`)
        yield* page.click("main form[data-copies] button")
        yield* page.until(`window.copied?.includes("/pair/") === true`)
        yield* page.evaluate("window.first = window.copied")
        // The address of a link has its end in seconds.
        yield* page.until(
          `document.querySelector("main form[data-copies] button").click() || window.copied !== window.first`
        )
        yield* page.evaluate(`navigator.clipboard.write = () => Promise.reject(new Error("not allowed"))`)
        yield* page.click("main form[data-copies] button")
        yield* page.until(
          `document.querySelector("dialog[open] .copyable code")?.textContent.includes("/pair/") === true`
        )
        // Without scripts, and without the clipboard, the form shows the link.
        yield* page.command("Emulation.setScriptExecutionDisabled", { value: true })
        yield* page.open(`${at}/whatsapp/${id}`)
        yield* page.click("main form.inline[action$='/link'] button")
        yield* page.until(titled("The pairing link"))
        yield* page.command("Emulation.setScriptExecutionDisabled", { value: false })
        const link = yield* page.evaluate(`document.querySelector(".copyable code").textContent`)
        yield* look(page, "session-link")
        const other = yield* openPage
        yield* other.open(`${origin}${pathOf(link)}`)
        yield* other.until(titled("Link your phone to Front desk"))
        yield* other.until(`document.querySelector(".pairing img")?.naturalWidth > 0`)
        assert.notInclude(String(yield* other.evaluate("document.documentElement.outerHTML")), `/console/${accountId}`)
        yield* look(other, "pair")
        yield* type(other, "phone_number", "12")
        yield* other.click(submit)
        yield* other.until(`document.querySelector("#f-phone_number[aria-invalid]") !== null`)
        const number = "15550104822"
        yield* type(other, "phone_number", `+${number}`)
        yield* other.click(submit)
        yield* other.until(titled("Type this code into the phone"))
        yield* look(other, "pair-code")
        const code = String(yield* other.evaluate(`document.querySelector(".big").textContent`))
        assert.match(code, /^\w{4}-\w{4}$/)
        yield* phoneDoes(node, "/code", { code: code.replace("-", ""), number })
        yield* other.click("main a.button")
        yield* other.until(shows("Your phone is linked."))
        yield* look(other, "pair-done")
        yield* page.open(`${at}/whatsapp/${id}`)
        yield* page.until(shows(`+${number}`))
        yield* look(page, "session-connected")
        yield* page.open(`${at}/whatsapp/${id}/link`)
        yield* page.click(submit)
        yield* page.until(`document.querySelector("[role=alert]") !== null`)
      })
  )

  it.effect("a pairing link that was changed or has ended opens nothing", () =>
    Effect.gen(function*() {
      const { key, node } = yield* visitor
      const { answer: created } = yield* createSession(node, key)
      const id = String(created.at("id"))
      const answer = yield* node.request("POST", `/v1/whatsapp/sessions/${id}/pairing-link`, { key })
      const path = pathOf(answer.at("data", "url"))
      assert.strictEqual((yield* node.request("GET", path)).status, 200)
      const [account, session, end, mac] = path.slice("/console/pair/".length).split(".")
      const changed = [
        `${account}.${Number(session) + 1}.${end}.${mac}`,
        `${account}.${session}.${Number(end) + 600}.${mac}`,
        `${account}.${session}.${end}`,
        "nonsense"
      ]
      for (const token of changed) {
        assert.strictEqual((yield* node.request("GET", `/console/pair/${token}`)).status, 410, token)
      }
      yield* node.request("DELETE", `/v1/whatsapp/sessions/${id}`, { key })
      assert.strictEqual((yield* node.request("GET", path)).status, 410)
    }))

  it.effect("a session that has a phone gets no pairing link, even if it is not connected", () =>
    Effect.gen(function*() {
      const { key, node } = yield* visitor
      const sql = yield* SqlClient.SqlClient
      const { answer: created } = yield* createSession(node, key)
      const id = Number(created.at("id"))
      yield* sql`update whatsapp_sessions set is_paired = true where id = ${id}`
      const answer = yield* node.request("POST", `/v1/whatsapp/sessions/${id}/pairing-link`, { key })
      assert.deepStrictEqual([answer.status, answer.at("error", "type")], [409, "session_already_connected"])
    }))

  it.effect("a pairing link made in test mode opens its session", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { accountId } = yield* makeAccount()
      const { key } = yield* makeKey(accountId, { mode: "test" })
      const { answer: created } = yield* createSession(node, key, "Till")
      const id = String(created.at("id"))
      const answer = yield* node.request("POST", `/v1/whatsapp/sessions/${id}/pairing-link`, { key })
      const page = yield* node.request("GET", pathOf(answer.at("data", "url")))
      assert.strictEqual(page.status, 200)
      assert.include(page.text, "Till")
    }))

  it.effect.skipIf(chromium === undefined)(
    "a person renames a session, reads its contacts and groups, and deletes it by typing its name",
    () =>
      Effect.gen(function*() {
        const { at, key, node, page } = yield* visitor
        const sql = yield* SqlClient.SqlClient
        const { answer: made } = yield* createSession(node, key, "Shop")
        const id = Number(made.at("id"))
        yield* page.open(`${at}/whatsapp/${id}`)
        yield* page.click("main a[href$='/rename']")
        yield* page.until(`document.querySelector("dialog[open] [name=name]")?.value === "Shop"`)
        yield* page.evaluate(`document.querySelector("dialog [name=name]").value = "Front desk"`)
        yield* page.click("dialog form button")
        yield* page.until(said("The session has a new name."))
        yield* page.until(titled("Front desk"))
        yield* page.click("main a[href$='/contacts']")
        yield* page.until(shows("No contacts"))
        yield* look(page, "contacts-empty")
        yield* sql`insert into whatsapp_contacts (session_id, phone, name) values (${id}, '15550100900', 'Ada <b>')`
        yield* sql`insert into whatsapp_groups (session_id, jid, name, description)
          values (${id}, '1@g.us', 'Team', 'The <i>team</i>')`
        yield* page.open(`${at}/whatsapp/${id}/contacts?q=ada`)
        yield* page.until(shows("Ada <b>"))
        yield* look(page, "contacts")
        yield* page.open(`${at}/whatsapp/${id}/groups`)
        yield* page.until(shows("Team"))
        yield* look(page, "groups")
        yield* page.click(".list a")
        yield* page.until(titled("Team"))
        yield* page.until(shows("The <i>team</i>"))
        yield* look(page, "group")
        yield* page.open(`${at}/whatsapp/${id}`)
        yield* page.click("main a[href$='/delete']")
        yield* page.until(`document.querySelector("dialog[open] [name=typed]") !== null`)
        yield* page.click("dialog form button.danger")
        yield* page.until(`document.querySelector("#f-typed[aria-invalid]") !== null`)
        yield* look(page, "session-delete")
        yield* type(page, "typed", "Front desk")
        yield* page.click(submit)
        yield* page.until(said("The session was deleted."))
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a person reads a chat, replies in it, logs the session out and asks for a new code",
    () =>
      Effect.gen(function*() {
        const { at, key, node, page } = yield* visitor
        const [number, guest] = ["15550104831", "15550104832"]
        const { answer: made } = yield* createSession(node, key, "Shop")
        const id = String(made.at("id"))
        yield* phoneDoes(node, "/scan", { session: id, number })
        yield* eventually(
          node.request("GET", `/v1/whatsapp/sessions/${id}`, { key }),
          (session) => session.at("status") === "connected"
        )
        yield* page.open(`${at}/whatsapp/${id}/chats/${guest}`)
        yield* page.until(shows("No messages in this chat"))
        yield* look(page, "chat-empty")
        yield* phoneDoes(node, "", { number: guest, name: "Ada" })
        yield* phoneDoes(node, `/${guest}/send`, { to: number, text: "Is my table ready? <b>" })
        yield* page.until(shows("Is my table ready? <b>"))
        yield* type(page, "content", "Yes, at eight.")
        yield* page.click(submit)
        yield* page.until(said("The message was accepted."))
        yield* page.until(`document.querySelector(".chat .sent .words")?.textContent === "Yes, at eight."`)
        yield* page.until(`document.querySelector(".chat .sent .badge.good") !== null`)
        yield* look(page, "chat")
        yield* page.click(".chat .sent a")
        yield* page.until(titled(`WhatsApp to +${guest}`))
        yield* page.click(`main a[href*='/chats/']`)
        yield* page.until(titled(`Chat with +${guest}`))
        yield* page.open(`${at}/whatsapp/${id}`)
        yield* page.click("main a[href$='/logout']")
        yield* page.until(`document.querySelector("dialog[open] form button.danger") !== null`)
        yield* look(page, "session-logout")
        yield* page.click("dialog form button.danger")
        yield* page.until(said("The session was logged out."))
        yield* page.until(shows("The device was logged out"))
        yield* look(page, "session-logged-out")
        yield* page.open(`${at}/whatsapp/${id}/chats/${guest}`)
        yield* page.until(shows("The session is not connected, so it cannot send."))
        yield* page.open(`${at}/whatsapp/${id}`)
        yield* page.click("main .stack form button")
        yield* page.until(`document.querySelector(".pairing img")?.naturalWidth > 0`)
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a person checks numbers, creates a group, adds a participant and removes one",
    () =>
      Effect.gen(function*() {
        const { at, key, node, origin, page } = yield* visitor
        const [number, ada, bob] = ["15550104841", "15550104842", "15550104843"]
        const { answer: made } = yield* createSession(node, key, "Shop")
        const id = String(made.at("id"))
        yield* page.open(`${at}/whatsapp/${id}/contacts`)
        yield* page.until(shows("The session is not connected, so it cannot ask WhatsApp."))
        yield* page.open(`${at}/whatsapp/${id}/groups/new`)
        yield* page.until(shows("The session is not connected, so it cannot change groups."))
        yield* phoneDoes(node, "/scan", { session: id, number })
        for (const guest of [ada, bob]) yield* phoneDoes(node, "", { number: guest, name: "Guest" })
        yield* eventually(
          node.request("GET", `/v1/whatsapp/sessions/${id}`, { key }),
          (session) => session.at("status") === "connected"
        )
        yield* page.open(`${at}/whatsapp/${id}/contacts`)
        yield* type(page, "phone", "call me")
        yield* page.click(submit)
        yield* page.until(`document.querySelector("#f-phone[aria-invalid]") !== null`)
        yield* look(page, "contacts-check-refused")
        yield* type(page, "phone", `+${ada}`)
        yield* page.click(submit)
        yield* page.until(titled(`+${ada} is on WhatsApp`))
        yield* look(page, "contacts-check")
        yield* page.click("main .buttons a[href$='/contacts']")
        yield* page.until(titled("Contacts"))
        yield* type(page, "phone", "+15559990000")
        yield* page.click(submit)
        yield* page.until(titled("+15559990000 is not on WhatsApp"))
        yield* page.until(`document.querySelector("main a[href*='/send?channel=sms&to=']") !== null`)
        yield* page.open(`${at}/whatsapp/${id}/groups`)
        yield* page.until(shows("No groups"))
        yield* page.click("main a[href$='/groups/new']")
        yield* page.until(titled("New group"))
        yield* look(page, "group-new")
        yield* type(page, "name", "Team")
        yield* page.click(submit)
        yield* page.until(`document.querySelector("#f-participants[aria-invalid]") !== null`)
        yield* type(page, "participants", `+${ada}, +1 555 999 0000`)
        yield* page.click(submit)
        yield* page.until(titled("Team"))
        yield* page.until(`document.querySelectorAll("tbody tr").length === 2`)
        yield* page.until(`document.querySelector("[data-copy^='https://chat.whatsapp.com/']") !== null`)
        yield* look(page, "group-connected")
        yield* page.click("main a[href$='/add']")
        yield* page.until(`document.querySelector("dialog[open] [name=add_participants]") !== null`)
        yield* page.evaluate(`document.querySelector("dialog [name=add_participants]").value = "+${bob}"`)
        yield* page.click("dialog form button")
        yield* page.until(`document.querySelectorAll("tbody tr").length === 3`)
        yield* page.click(`main a[href$='/remove/%2B${ada}']`)
        yield* page.until(`document.querySelector("dialog[open] form button.danger") !== null`)
        yield* look(page, "group-remove")
        yield* page.click("dialog form button.danger")
        yield* page.until(said("The participant was removed."))
        yield* page.until(`document.querySelectorAll("tbody tr").length === 2`)
        assert.isFalse(yield* page.evaluate(shows(`+${ada}`)))
        yield* page.until(shows(`+${bob}`))
        const group = yield* page.evaluate("location.pathname")
        yield* page.open(`${origin}${String(group)}/remove/%2B${number}`)
        yield* page.until(titled("This page does not exist"))
      })
  )

  it.effect.skipIf(chromium === undefined)(
    "a person sees what a session has sent, what its limits leave and what waits",
    () =>
      Effect.gen(function*() {
        const { at, key, node, page } = yield* visitor
        const sql = yield* SqlClient.SqlClient
        const [number, guest] = ["15550104851", "15550104852"]
        const { answer: made } = yield* createSession(node, key, "Shop")
        const id = Number(made.at("id"))
        yield* phoneDoes(node, "/scan", { session: String(id), number })
        yield* phoneDoes(node, "", { number: guest, name: "Ada" })
        yield* eventually(
          node.request("GET", `/v1/whatsapp/sessions/${id}`, { key }),
          (session) => session.at("status") === "connected"
        )
        const delivered = Effect.fnUntraced(function*(content: string) {
          const json = { session_id: id, to: `+${guest}`, content }
          const sent = yield* node.request("POST", "/v1/whatsapp/send", { key, json })
          const message = Number(sent.at("data", "message_id"))
          yield* eventually(
            node.request("GET", `/v1/whatsapp/messages/${message}`, { key }),
            (shown) => shown.at("data", "status") === "read"
          )
          return message
        })
        yield* delivered("Hello")
        const [old, late] = [yield* delivered("Old"), yield* delivered("Late")]
        yield* sql`update whatsapp_outbox set written_at = now() - interval '25 hours' where message_id = ${old}`
        yield* sql`update whatsapp_outbox set status = 'queued', written_at = null, due_at = now() + interval '1 hour'
          where message_id = ${late}`
        yield* sql`update messages set status = 'queued' where id = ${late}`
        yield* page.open(`${at}/whatsapp`)
        yield* page.until(shows("1 of 1,000"))
        yield* look(page, "sessions")
        yield* page.click(".list a")
        yield* page.until(titled("Shop"))
        yield* page.until(shows("999 of 1,000"))
        yield* page.until(`document.querySelectorAll("section[aria-labelledby=history] tbody tr").length > 0`)
        yield* page.until(
          `document.querySelector("section[aria-labelledby=history] tbody tr .badge").textContent === "connected"`
        )
        yield* look(page, "session-sending")
        yield* page.click("main a[href*='status=queued']")
        yield* page.until(`document.querySelector("tbody tr")?.textContent.includes("+${guest}") === true`)
      })
  )
})
