import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { assertRefused } from "../contract/contract.ts"
import { eventually, Service } from "../support/Service.ts"
import { longer } from "../support/waiting.ts"
import { pairedSession, untilStatus, WhatsApp } from "../support/WhatsApp.ts"
import { inboundAccount, leftBehind } from "../support/whatsAppEvents.ts"

/** A listening account with a paired session, and a phone that writes to it. */
const scene = Effect.gen(function*() {
  const node = yield* Service
  const { phone, simulator: { controls } } = yield* WhatsApp
  const account = yield* inboundAccount(node)
  const session = yield* pairedSession(node, account.key)
  return { node, controls, account, session, sender: yield* phone }
})

layer(WhatsApp.layer(), { excludeTestServices: true })("inbound WhatsApp messages", (it) => {
  it.effect("a message is published with the sender's phone number, whether it arrives by number or by LID", () =>
    Effect.gen(function*() {
      const { account, controls, sender, session: { id, number } } = yield* scene
      yield* Effect.promise(() => controls.sendText(sender, number, { text: "by number" }))
      yield* Effect.promise(() => controls.sendText(sender, number, { text: "by LID", addressing: "lid" }))
      const messages = yield* account.published("message.received", 2)
      assert.deepStrictEqual(messages.map(({ content }) => content), [{ body: "by number" }, { body: "by LID" }])
      for (const data of messages) {
        assert.deepInclude(data, { channel: "whatsapp", session_id: id, from: `+${sender}`, type: "text" })
        assert.deepInclude(data, { lid: null, group_id: null })
      }
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql`select sender, recipient, direction, status from messages where session_id = ${id}`
      assert.deepStrictEqual(
        rows.map((row) => ({ ...row })),
        [0, 1].map(() => ({
          sender: `+${sender}`,
          recipient: `+${number}`,
          direction: "in",
          status: "received"
        }))
      )
      const inbox = yield* sql`select payload from whatsapp_inbox where session_id = ${id}`
      assert.deepStrictEqual(inbox.map((row) => row["payload"]), [null, null])
    }))

  it.effect("each type of message is published with its type and content", () =>
    Effect.gen(function*() {
      const { account, controls, sender, session: { number } } = yield* scene
      const file = (kind: "audio" | "document" | "image" | "sticker" | "video", mimetype: string) => ({
        kind,
        mimetype,
        base64: "aGVsbG8=",
        ...(kind === "image" && { caption: "a picture" }),
        ...(kind === "document" && { fileName: "bill.pdf" })
      })
      const first = yield* Effect.promise(() => controls.sendText(sender, number, { text: "first" }))
      yield* Effect.promise(() => controls.sendMedia(sender, number, file("image", "image/png")))
      yield* Effect.promise(() => controls.sendMedia(sender, number, file("video", "video/mp4")))
      yield* Effect.promise(() => controls.sendMedia(sender, number, file("audio", "audio/ogg")))
      yield* Effect.promise(() => controls.sendMedia(sender, number, file("document", "application/pdf")))
      yield* Effect.promise(() => controls.sendMedia(sender, number, file("sticker", "image/webp")))
      yield* Effect.promise(() => controls.poll(sender, number, { name: "Tea?", options: ["yes", "no"] }))
      yield* Effect.promise(() => controls.react(sender, first, "👍"))
      yield* Effect.promise(() => controls.react(sender, first, ""))
      yield* Effect.promise(() => controls.sendText(sender, number, { text: "second", replyTo: first }))
      yield* Effect.promise(() => controls.edit(sender, first, "first, better"))
      const messages = yield* account.published("message.received", 11)
      const id = messages[0]?.["message_id"]
      assert.deepStrictEqual(messages.map(({ content, type }) => ({ type, content })), [
        { type: "text", content: { body: "first" } },
        { type: "image", content: { body: "a picture", mime_type: "image/png", size: 5 } },
        { type: "video", content: { body: "", mime_type: "video/mp4", size: 5 } },
        { type: "audio", content: { body: "", mime_type: "audio/ogg", size: 5, voice: false } },
        { type: "document", content: { body: "", mime_type: "application/pdf", size: 5, filename: "bill.pdf" } },
        { type: "sticker", content: { body: "", mime_type: "image/webp", size: 5 } },
        { type: "poll", content: { body: "Tea?", question: "Tea?", options: ["yes", "no"] } },
        { type: "reaction", content: { body: "👍", emoji: "👍", message_id: id } },
        { type: "reaction", content: { body: "", emoji: "", message_id: id } },
        { type: "text", content: { body: "second", reply_to: id } },
        { type: "edit", content: { body: "first, better", message_id: id } }
      ])
    }))

  it.effect("a flood of messages that cannot be stored ends the connection at 8 MiB, and all arrive afterwards", () =>
    Effect.gen(function*() {
      const { account, controls, node, sender, session: { id, number } } = yield* scene
      const sql = yield* SqlClient.SqlClient
      const texts = Array.from({ length: 48 }, (_, index) => `${index} ${"x".repeat(200_000)}`)
      yield* sql.withTransaction(Effect.gen(function*() {
        yield* sql`lock table whatsapp_inbox in share mode`
        yield* Effect.forEach(texts, (text) => Effect.promise(() => controls.sendText(sender, number, { text })))
        yield* untilStatus(node, account.key, id, "disconnected")
      }))
      const messages = yield* account.published("message.received", texts.length)
      const bodies = messages.map(({ content }) => (content as { readonly body: string }).body)
      assert.deepStrictEqual(bodies.toSorted(), texts.toSorted())
    }))

  it.effect("messages that cannot be decrypted are requested again and published once", () =>
    Effect.gen(function*() {
      const { account, controls, sender, session: { number } } = yield* scene
      yield* Effect.promise(() => controls.sendText(sender, number, { text: "first" }))
      controls.setFault(number, { kind: "corrupt", times: 2 })
      yield* Effect.promise(() => controls.sendText(sender, number, { text: "second" }))
      yield* Effect.promise(() => controls.sendText(sender, number, { text: "third" }))
      yield* Effect.promise(() => controls.sendText(sender, number, { text: "fourth" }))
      const messages = yield* account.published("message.received", 4)
      const bodies = messages.map(({ content }) => (content as { readonly body: string }).body)
      assert.deepStrictEqual(bodies.toSorted(), ["first", "fourth", "second", "third"])
      assert.isAtLeast(controls.counters().phones[sender]?.retriesAnswered ?? 0, 2)
    }))

  it.effect("messages that arrived during a disconnection are published in order after it", () =>
    Effect.gen(function*() {
      const { account, controls, sender, session: { device, number } } = yield* scene
      controls.dropConnection(device)
      const texts = Array.from({ length: 20 }, (_, index) => `while away ${index}`)
      for (const text of texts) yield* Effect.promise(() => controls.sendText(sender, number, { text }))
      const messages = yield* account.published("message.received", texts.length)
      assert.deepStrictEqual(messages.map(({ content }) => content), texts.map((body) => ({ body })))
    }))

  it.effect("a session recovers after malformed data from the server", () =>
    Effect.gen(function*() {
      const { account, controls, node, sender, session: { device, number } } = yield* scene
      const kinds = ["unknown-stanza", "truncated-node", "bad-frame", "unanswered"] as const
      for (const [index, kind] of kinds.entries()) {
        const isUp = () => controls.sessions().find(({ session }) => session === device)?.isConnected === true
        yield* eventually(Effect.sync(isUp), (up) => up, longer.turn)
        controls.misbehave(device, kind)
        yield* Effect.promise(() => controls.sendText(sender, number, { text: kind }))
        const messages = yield* account.published("message.received", index + 1)
        assert.deepStrictEqual(messages.at(-1)?.["content"], { body: kind })
      }
      assert.strictEqual((yield* node.request("GET", "/health/ready")).status, 200)
    }))

  it.effect("messages with an invalid id are ignored, acknowledged and not sent again", () =>
    Effect.gen(function*() {
      const { account, controls, sender, session: { device, number } } = yield* scene
      const view = () => controls.sessions().find(({ session }) => session === device)
      const logins = view()?.logins
      for (const id of ["A\u0000B", "A".repeat(10_000)]) {
        yield* Effect.promise(() => controls.sendText(sender, number, { text: "nonsense", id }))
      }
      yield* Effect.promise(() => controls.sendText(sender, number, { text: "sense" }))
      const messages = yield* account.published("message.received", 1)
      assert.deepStrictEqual(messages.map(({ content }) => content), [{ body: "sense" }])
      yield* eventually(Effect.sync(view), (seen) => seen?.waiting === 0)
      assert.strictEqual(view()?.logins, logins)
    }))

  it.effect("a message without content is requested from the session's phone and published once", () =>
    Effect.gen(function*() {
      const { account, controls, sender, session: { id, number } } = yield* scene
      const group = controls.createGroup(sender, "Team", [number])
      const sendAbsent = (chat: string, text: string) => {
        controls.setFault(number, { kind: "absent" })
        return controls.sendText(sender, chat, { text })
      }
      const name = yield* Effect.promise(() => sendAbsent(number, "from an advertisement"))
      yield* Effect.promise(() => sendAbsent(group.id, "in a group"))
      const messages = yield* account.published("message.received", 2)
      const bodies = messages.map(({ content }) => (content as { readonly body: string }).body)
      assert.deepStrictEqual(bodies.toSorted(), ["from an advertisement", "in a group"])
      for (const data of messages) assert.deepInclude(data, { from: `+${sender}`, type: "text" })
      // WhatsApp sends the same message again: it is already known.
      yield* Effect.promise(() => controls.sendText(sender, number, { text: "from an advertisement", id: name }))
      yield* Effect.promise(() => controls.sendText(sender, number, { text: "later" }))
      const all = yield* account.published("message.received", 3)
      assert.deepStrictEqual(all[2]?.["content"], { body: "later" })
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql`select from whatsapp_inbox where session_id = ${id} and whatsapp_id = ${name}`
      assert.strictEqual(rows.length, 1)
    }))

  it.effect("messages of the session's own phone are not published", () =>
    Effect.gen(function*() {
      const { account, controls, sender, session: { number } } = yield* scene
      const group = controls.createGroup(number, "Team", [sender])
      yield* Effect.promise(() => controls.sendText(number, sender, { text: "own" }))
      yield* Effect.promise(() => controls.sendText(number, group.id, { text: "own, to a group" }))
      yield* Effect.promise(() => controls.sendText(sender, number, { text: "other" }))
      const messages = yield* account.published("message.received", 1)
      assert.deepStrictEqual(messages.map(({ content }) => content), [{ body: "other" }])
    }))

  it.effect("a group message is published with its group and its author", () =>
    Effect.gen(function*() {
      const { account, controls, sender, session: { id, number } } = yield* scene
      const group = controls.createGroup(number, "Team", [sender])
      yield* Effect.promise(() => controls.sendText(sender, group.id, { text: "one" }))
      yield* Effect.promise(() => controls.sendText(sender, group.id, { text: "two" }))
      const messages = yield* account.published("message.received", 2)
      assert.deepStrictEqual(messages.map(({ content }) => content), [{ body: "one" }, { body: "two" }])
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql`select id from whatsapp_groups where session_id = ${id} and jid = ${group.id}`
      for (const data of messages) assert.deepInclude(data, { from: `+${sender}`, group_id: Number(row?.["id"]) })
    }))

  it.effect("messages left by a former owner are published once by the next, after at most two seconds' wait for a number", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { simulator: { controls } } = yield* WhatsApp
      const account = yield* inboundAccount(node)
      const { device, id } = yield* pairedSession(node, account.key)
      const stranger = "100000000000001@lid"
      yield* leftBehind(id, { from: stranger, id: "LEFT1", t: "1700000000", notify: "Ghost" }, {
        conversation: "who am I"
      })
      const known = { from: "15557654321@s.whatsapp.net", id: "LEFT2", t: "1700000000" }
      yield* leftBehind(id, known, { conversation: "I am known" })
      controls.dropConnection(device)
      const messages = yield* account.published("message.received", 2)
      assert.deepInclude(messages[0], { from: "+15557654321", content: { body: "I am known" } })
      assert.deepInclude(messages[1], { from: null, lid: stranger, content: { body: "who am I" } })
      const sql = yield* SqlClient.SqlClient
      const left = yield* sql`select from whatsapp_inbox where session_id = ${id} and done_at is null`
      assert.strictEqual(left.length, 0)
    }))

  it.effect("a file can be fetched while WhatsApp has it and the session keeps its keys", () =>
    Effect.gen(function*() {
      const { account, controls, node, sender, session: { id, number } } = yield* scene
      const { key } = account
      const base64 = Buffer.from("%PDF-1.7 a bill").toString("base64")
      const file = { kind: "document", mimetype: "application/pdf", base64, fileName: "bill.pdf" } as const
      yield* Effect.promise(() => controls.sendMedia(sender, number, file))
      const mediaKey = new Uint8Array(32).fill(7)
      const lost = (name: string, url: string) =>
        leftBehind(id, { from: `${sender}@s.whatsapp.net`, id: name, t: "1700000000" }, {
          imageMessage: { url, mediaKey, mimetype: "text/html" }
        })
      yield* account.published("message.received", 1)
      yield* lost("DOWN", "http://127.0.0.1:9/down")
      yield* lost("ELSEWHERE", "https://files.example/secret")
      yield* lost("GONE", `${new URL(node.baseUrl).origin}/no-such-file`)
      yield* Effect.promise(() => controls.sendText(sender, number, { text: "no file" }))
      const ids = (yield* account.published("message.received", 5)).map((data) => String(data["message_id"]))
      const media = (message = "0") => node.request("GET", `/v1/whatsapp/messages/${message}/media`, { key })
      const found = yield* media(ids[0])
      assert.deepStrictEqual([found.status, found.text], [200, "%PDF-1.7 a bill"])
      assert.strictEqual(found.headers["content-type"], "application/pdf")
      assert.strictEqual(found.headers["content-disposition"], "attachment")
      const rest = yield* Effect.forEach(ids.slice(1), (message) => media(message))
      assert.deepStrictEqual(rest.map(({ at, status }) => [status, at("error", "type")]), [
        [503, "service_unavailable"],
        [410, "media_gone"],
        [410, "media_gone"],
        [404, "not_found"]
      ])
      const stranger = yield* inboundAccount(node)
      const refused = yield* node.request("GET", `/v1/whatsapp/messages/${ids[0]}/media`, { key: stranger.key })
      assert.strictEqual(refused.status, 404)
      yield* node.request("DELETE", `/v1/whatsapp/sessions/${id}`, { key })
      const gone = yield* media(ids[0])
      assert.deepStrictEqual([gone.status, gone.at("error", "type")], [410, "media_gone"])
    }))

  it.effect(
    "messages create contacts, and a number check without an answer returns null",
    () =>
      Effect.gen(function*() {
        const { account, controls, node, sender, session: { device, id, number } } = yield* scene
        const { key } = account
        controls.createPhone(sender, "Zoe Walker")
        yield* Effect.promise(() => controls.sendText(sender, number, { text: "hello", addressing: "lid" }))
        yield* account.published("message.received", 1)
        const search = (q: string) => node.request("GET", `/v1/whatsapp/contacts?session_id=${id}&q=${q}`, { key })
        for (const q of ["zoe", sender.slice(3)]) {
          const found = yield* search(q)
          assert.strictEqual(found.at("meta", "total"), 1, found.text)
          assert.deepInclude(found.at("data", 0), { phone: `+${sender}`, name: "Zoe Walker", is_whatsapp_user: true })
        }
        const check = (who: string) =>
          node.request("GET", `/v1/whatsapp/contacts/${who}/check?session_id=${id}`, { key })
        const yes = { phone: `+${sender}`, is_whatsapp_user: true, whatsapp_id: `${sender}@s.whatsapp.net` }
        assert.deepStrictEqual((yield* check(sender)).at("data"), yes)
        const absent = "15559990000"
        const no = { phone: `+${absent}`, is_whatsapp_user: false, whatsapp_id: null }
        assert.deepStrictEqual((yield* check(`%2B${absent}`)).at("data"), no)
        // The result is cached: the phone has joined meanwhile.
        controls.createPhone(absent, "Late")
        assert.deepStrictEqual((yield* check(absent)).at("data"), no)
        for (const malformed of ["12", "nobody", "%2B"]) {
          const wrong = yield* check(malformed)
          assertRefused(wrong, 422, "validation_error")
          assert.strictEqual(wrong.at("error", "param"), "phone")
        }
        controls.misbehave(device, "silence")
        const silent = yield* check("15559990001")
        assert.deepStrictEqual(silent.at("data"), { phone: "+15559990001", is_whatsapp_user: null, whatsapp_id: null })
        controls.dropConnection(device)
        controls.logOut(device)
        yield* untilStatus(node, key, id, "failed")
        const refused = yield* check("15559990002")
        assert.deepStrictEqual([refused.status, refused.at("error", "type")], [409, "session_not_connected"])
      })
  )
})
