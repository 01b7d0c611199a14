/** The files of WhatsApp messages in the console: the browser has only its cookie, which no endpoint takes. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { chromium } from "../support/Chromium.ts"
import { signedInAs } from "../support/consolePeople.ts"
import { look, shows, visitor } from "../support/look.ts"
import { Service } from "../support/Service.ts"
import { pairedSession, WhatsApp } from "../support/WhatsApp.ts"
import { inboundAccount, leftBehind } from "../support/whatsAppEvents.ts"

const text = "<script>alert(1)</script>"

const bill = {
  kind: "document",
  mimetype: "text/html",
  base64: Buffer.from(text).toString("base64"),
  fileName: "../<b>bill\u202efdp.html"
} as const

/** A session to which a phone has sent a bill, and an owner who is signed in. */
const scene = Effect.gen(function*() {
  const node = yield* Service
  const { phone, simulator: { controls } } = yield* WhatsApp
  const account = yield* inboundAccount(node)
  const { cookie } = yield* signedInAs(account.accountId, "owner")
  const session = yield* pairedSession(node, account.key)
  const sender = yield* phone
  yield* Effect.promise(() => controls.sendMedia(sender, session.number, bill))
  const [first] = yield* account.published("message.received", 1)
  const id = Number(first?.["message_id"])
  const at = `/console/${account.accountId}`
  const get = (path: string, as = cookie) => node.request("GET", path, { headers: { cookie: as } })
  return { account, at, cookie, get, id, node, sender, session, chat: `${at}/whatsapp/${session.id}/chats/${sender}` }
})

layer(WhatsApp.layer(), { excludeTestServices: true })("files of WhatsApp messages in the console", (it) => {
  it.effect("a chat shows the name of a received file without its markup and marks, and links to its bytes", () =>
    Effect.gen(function*() {
      const { at, chat, get, id } = yield* scene
      const file = `${at}/messages/whatsapp/${id}/file`
      for (const page of [chat, `${at}/messages/whatsapp/${id}`]) {
        const shown = yield* get(page)
        assert.include(shown.text, `<a href="${file}">`, page)
        assert.include(shown.text, "Document <bdi>../&lt;b&gt;bill\ufffdfdp.html</bdi>", page)
        assert.include(shown.text, "0.025 kB", page)
      }
      // WhatsApp does not say the size beforehand, so each file counts as the largest: only one at a time has memory.
      for (const _ of [1, 2]) {
        const found = yield* get(file)
        assert.deepStrictEqual([found.status, found.text], [200, text])
        assert.deepInclude(found.headers, {
          "content-type": "application/octet-stream",
          "content-disposition": "attachment; filename*=UTF-8''..bbillfdp.html",
          "x-content-type-options": "nosniff",
          "cache-control": "no-store"
        })
      }
    }))

  it.effect("the file of another account's message answers 404, and without a sign-in it asks for one", () =>
    Effect.gen(function*() {
      const { at, get, id, node } = yield* scene
      const other = yield* inboundAccount(node)
      const { cookie } = yield* signedInAs(other.accountId, "owner")
      const path = `/messages/whatsapp/${id}/file`
      const answers = [
        yield* get(`/console/${other.accountId}${path}`, cookie),
        yield* get(`${at}${path}`, cookie),
        yield* get(`${at}/messages/whatsapp/${Number.MAX_SAFE_INTEGER}/file`),
        yield* get(`${at}${path}`, "")
      ]
      assert.deepStrictEqual(answers.map(({ status }) => status), [404, 404, 404, 302])
      for (const answer of answers) assert.notInclude(answer.text, text)
    }))

  it.effect("a file that WhatsApp has deleted, or whose keys a logout has erased, is said to be gone", () =>
    Effect.gen(function*() {
      const { account, at, chat, get, id, node, sender, session } = yield* scene
      const gone = "This file is no longer available. Ask the sender to send it again."
      const url = `${new URL(node.baseUrl).origin}/no-such-file`
      yield* leftBehind(session.id, { from: `${sender}@s.whatsapp.net`, id: "GONE", t: "1700000000" }, {
        imageMessage: { url, mediaKey: new Uint8Array(32).fill(7), mimetype: "image/png" }
      })
      const { simulator: { controls } } = yield* WhatsApp
      yield* Effect.promise(() => controls.sendText(sender, session.number, { text: "next" }))
      const image = (yield* account.published("message.received", 3)).find(({ type }) => type === "image")
      const deleted = yield* get(`${at}/messages/whatsapp/${String(image?.["message_id"])}/file`)
      assert.strictEqual(deleted.status, 410)
      assert.include(deleted.text, gone)
      assert.notInclude((yield* get(chat)).text, gone)
      const out = yield* node.request("POST", `/v1/whatsapp/sessions/${session.id}/logout`, { key: account.key })
      assert.strictEqual(out.status, 200, out.text)
      const shown = yield* get(chat)
      assert.strictEqual(shown.text.split(gone).length - 1, 2)
      assert.notInclude(shown.text, "/file\"")
      const closed = yield* get(`${at}/messages/whatsapp/${id}/file`)
      assert.strictEqual(closed.status, 410)
    }))

  it.effect("a sent file has its name and its address in the chat, and no link", () =>
    Effect.gen(function*() {
      const { account, chat, get, node, sender, session: { id: session_id } } = yield* scene
      const sent = yield* node.request("POST", "/v1/whatsapp/send", {
        key: account.key,
        json: {
          session_id,
          to: `+${sender}`,
          type: "document",
          content: { url: "https://files.example/a?b=<i>", filename: "plan.pdf" }
        }
      })
      assert.strictEqual(sent.status, 202, sent.text)
      const shown = yield* get(chat)
      assert.match(
        shown.text,
        /<\/svg> Document <bdi>plan\.pdf<\/bdi> <code dir="ltr">https:\/\/files\.example\/a\?b=&lt;i&gt;<\/code><\/p>/
      )
      assert.include(shown.text, "The service keeps no copy of files that it sends.")
    }))

  it.effect.skipIf(chromium === undefined)(
    "a person opens a chat and saves the file in it",
    () =>
      Effect.gen(function*() {
        const { accountId, at, key, node, page } = yield* visitor
        const { phone, simulator: { controls } } = yield* WhatsApp
        const session = yield* pairedSession(node, key)
        const sender = yield* phone
        yield* page.open(`${at}/whatsapp/${session.id}/chats/${sender}`)
        yield* page.until(shows("No messages in this chat"))
        yield* Effect.promise(() => controls.sendMedia(sender, session.number, bill))
        yield* page.until(`document.querySelector(".chat a[href$='/file']") !== null`)
        yield* look(page, "chat-file")
        const read = `fetch(document.querySelector(".chat a[href$='/file']").href).then((answer) => answer.text())`
        assert.strictEqual(yield* page.evaluate(read), text)
        yield* page.click(".chat a[href$='/file']")
        yield* page.until(`location.pathname === "/console/${accountId}/whatsapp/${session.id}/chats/${sender}"`)
      })
  )
})
