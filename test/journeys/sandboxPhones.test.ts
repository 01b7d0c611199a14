/** The sandbox's phones as a developer uses them: over HTTP, on a node with the simulated WhatsApp. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { eventually, makeAccount, type RunningNode, sandboxToken, Service } from "../support/Service.ts"
import { createSession, sessionOf, untilStatus } from "../support/WhatsApp.ts"

const path = "/sandbox/phones"

/** Posts a form as a browser does. */
const submit = (node: RunningNode, to: string, fields: Readonly<Record<string, string>>, origin = node.baseUrl) =>
  node.request("POST", `${path}${to}`, {
    body: new URLSearchParams(fields).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded", origin }
  })

const done = Effect.fnUntraced(function*(node: RunningNode, to: string, fields: Readonly<Record<string, string>>) {
  const answer = yield* submit(node, to, fields)
  assert.strictEqual(answer.status, 303, answer.text)
  return String(answer.headers["location"])
})

const json = (node: RunningNode, below = "") =>
  node.request("GET", `${path}${below}`, { headers: { accept: "application/json" } })

let last = 15_550_200_000
const freshPhone = () => String(++last)

/** The phone's linked device. */
const deviceOf = (node: RunningNode, number: string) =>
  Effect.map(json(node, `/${number}`), ({ at }) => String(at("data", "devices", 0, "session")))

/** Pairs a new session of the account by the list's button. */
const pairedByPage = Effect.fnUntraced(function*(node: RunningNode, key: string, name = "Shop") {
  const { id } = yield* createSession(node, key, name)
  const number = freshPhone()
  assert.strictEqual(yield* done(node, "/scan", { session: String(id), number }), `${path}/${number}`)
  yield* untilStatus(node, key, id, "connected")
  return { id, number }
})

layer(Service.layer(), { excludeTestServices: true })("sandbox phones", (it) => {
  it.effect("the page pairs a session that waits for a scan, without JavaScript", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const { id } = yield* createSession(node, key, "Shop <b>1</b>")
      const page = yield* node.request("GET", path)
      assert.strictEqual(page.status, 200)
      assert.include(page.text, "Shop &lt;b&gt;1&lt;/b&gt;")
      const [, action = ""] = /<form method="post" action="\/sandbox\/phones(\/scan)"/.exec(page.text) ?? []
      assert.include(page.text, `<input type="hidden" name="session" value="${id}">`)
      const number = freshPhone()
      const next = yield* done(node, action, { session: String(id), number: `+${number}` })
      const shown = yield* untilStatus(node, key, id, "connected")
      assert.strictEqual(shown.at("phone_number"), number)
      const phone = yield* node.request("GET", next)
      assert.include(phone.text, `<code>${number}:1</code>`)
      assert.notInclude((yield* node.request("GET", path)).text, `name="session" value="${id}"`)
    }))

  it.effect("a phone can pair by a QR code's text or by a typed pairing code", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const first = yield* createSession(node, key)
      yield* done(node, "/scan", { qr: first.qr, number: freshPhone() })
      yield* untilStatus(node, key, first.id, "connected")
      const second = yield* createSession(node, key)
      const number = freshPhone()
      const asked = yield* node.request("POST", `/v1/whatsapp/sessions/${second.id}/pairing-code`, {
        key,
        json: { phone_number: number }
      })
      yield* done(node, "/code", { code: String(asked.at("data", "code")), number })
      yield* untilStatus(node, key, second.id, "connected")
    }))

  it.effect("a session that the phone logged out can be paired again", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const { id, number } = yield* pairedByPage(node, key)
      yield* done(node, "/devices/log-out", { session: yield* deviceOf(node, number) })
      assert.strictEqual((yield* untilStatus(node, key, id, "failed")).at("reason"), "logged_out")
      yield* done(node, "/scan", { session: String(id), number })
      yield* untilStatus(node, key, id, "connected")
    }))

  it.effect("a phone can write to a session and in groups, and its page shows the chats", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const { number } = yield* pairedByPage(node, key)
      const ann = freshPhone()
      const cid = freshPhone()
      yield* done(node, "", { number: ann, name: "Ann" })
      yield* done(node, `/${ann}/send`, { to: `+${number}`, text: "Hello <i>shop</i>" })
      yield* eventually(json(node, `/${ann}`), ({ at }) => at("data", "messages", 0, "status") !== "sent")
      const page = yield* node.request("GET", `${path}/${ann}`)
      assert.include(page.text, "Hello &lt;i&gt;shop&lt;/i&gt;")
      yield* done(node, `/${ann}/groups`, { subject: "Friends", members: `${number}, +1 (555) 020-0000` })
      const group = yield* json(node, `/${ann}`)
      assert.strictEqual(group.at("data", "groups", 0, "subject"), "Friends")
      yield* done(node, "", { number: cid, name: "" })
      const link = `https://chat.whatsapp.com/${String(group.at("data", "groups", 0, "inviteCode"))}`
      yield* done(node, `/${cid}/join`, { link })
      yield* done(node, `/${cid}/send`, { to: String(group.at("data", "groups", 0, "id")), text: "I am in" })
      const seen = yield* eventually(json(node, `/${number}`), ({ text }) => text.includes("I am in"))
      assert.include(JSON.stringify(seen.at("data", "messages")), "Hello <i>shop</i>")
    }))

  it.effect("a chat shows formats, pictures, replies and reactions, and the session hears of those from the phone", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const { id, number } = yield* pairedByPage(node, key)
      const ann = freshPhone()
      const png = Buffer.from(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "base64"
      )
      const send = (type: string, content: unknown) =>
        node.request("POST", "/v1/whatsapp/send", { key, json: { session_id: id, to: `+${ann}`, type, content } })
      yield* send("text", { body: "Your *order* is ```A-1042``` <b>" })
      yield* send("image", { base64: png.toString("base64"), mime_type: "image/png", caption: "Look" })
      const chat = yield* eventually(
        json(node, `/${ann}`),
        ({ at }) => at("data", "messages", 1, "text") === "Look"
      )
      const [text, picture] = [0, 1].map((index) => String(chat.at("data", "messages", index, "id")))
      yield* done(node, `/${ann}/send`, { to: number, text: "At _five_", reply: text ?? "" })
      assert.strictEqual(
        yield* done(node, `/${ann}/react`, { message: text ?? "", chat: number, emoji: "👍" }),
        `${path}/${ann}?chat=${number}`
      )
      const form = new FormData()
      form.set("to", number)
      form.set("caption", "Mine")
      form.set("file", new File([png], "mine.png", { type: "image/png" }))
      const sent = yield* Effect.promise(() =>
        fetch(`${node.baseUrl}${path}/${ann}/files?token=${sandboxToken}`, {
          method: "POST",
          body: form,
          redirect: "manual"
        })
      )
      assert.strictEqual(sent.status, 303)
      const page = yield* node.request("GET", `${path}/${ann}?chat=${number}&reply=${text}`)
      const media = `${path}/${ann}/media/${picture}`
      for (
        const part of [
          "Your <strong>order</strong> is <code>A-1042</code> &lt;b&gt;",
          `<img src="${media}"`,
          "<blockquote>Your *order*",
          "At <em>five</em>",
          ">👍</span></span>",
          `name="reply" value="${text}"`
        ]
      ) assert.include(page.text, part)
      const shown = yield* node.request("GET", media)
      assert.deepStrictEqual([shown.status, shown.headers["content-type"]], [200, "image/png"])
      assert.match(String(shown.headers["content-security-policy"]), /sandbox$/)
      assert.strictEqual((yield* node.request("GET", `${path}/${ann}/media/none`)).status, 404)
      const seen = yield* eventually(json(node, `/${number}`), ({ text }) => text.includes("Mine"))
      const messages = Object(seen.at("data", "messages")) as ReadonlyArray<Record<string, unknown>>
      assert.deepStrictEqual(
        messages.map(({ quote, reactionTo, text }) => [text, Object(quote)["id"], reactionTo]).slice(2),
        [
          ["At _five_", text, null],
          ["👍", undefined, text],
          ["Mine", undefined, null]
        ]
      )
    }))

  it.effect("a session reconnects by itself after a phone drops its connection", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const { id, number } = yield* pairedByPage(node, key)
      yield* done(node, "/devices/drop", { session: yield* deviceOf(node, number) })
      yield* eventually(json(node, `/${number}`), ({ at }) => Number(at("data", "devices", 0, "logins")) >= 2)
      yield* untilStatus(node, key, id, "connected")
    }))

  it.effect("an impossible action returns 409 with the reason on the page and changes nothing", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const { id } = yield* createSession(node, key)
      const number = freshPhone()
      const writer = freshPhone()
      yield* done(node, "", { number: writer })
      const problems = [
        yield* submit(node, `/${writer}/send`, { to: number, text: " " }),
        yield* submit(node, `/${writer}/files`, { to: number }),
        yield* submit(node, `/${writer}/react`, { message: "nothing", emoji: "👍" }),
        yield* submit(node, "", { number: "12" }),
        yield* submit(node, "/scan", { session: "999999999", number }),
        yield* submit(node, "/scan", { session: "x", number }),
        yield* submit(node, "/scan", { qr: "<nonsense>", number }),
        yield* submit(node, `/${writer}/send`, { to: "12", text: "x" }),
        yield* submit(node, `/${writer}/send`, { to: "120363000000000000@g.us", text: "x" }),
        yield* submit(node, `/${writer}/join`, { link: "nowhere" }),
        yield* submit(node, "/devices/drop", { session: `${number}:7` })
      ]
      for (const { status, text } of problems) {
        assert.strictEqual(status, 409, text)
        assert.match(text, /<p class="card problem" role="alert">[A-Z][^<]+<\/p>/)
        // A number may have no plus sign, so that is not what is wrong.
        assert.notMatch(text, /class="card problem"[^>]*>[^<]*plus/)
      }
      assert.strictEqual((yield* sessionOf(node, key, id)).at("status"), "pending")
      assert.strictEqual((yield* node.request("GET", `${path}/000`)).status, 404)
      assert.strictEqual((yield* json(node, "/000")).status, 404)
    }))

  it.effect("the pages return 404 to remote visitors and to forms from other sites", () =>
    Effect.gen(function*() {
      const node = yield* Service
      for (const headers of [{ "x-forwarded-for": "203.0.113.9" }, { host: "rebound.example" }]) {
        assert.strictEqual((yield* node.request("GET", path, { headers })).at("error", "type"), "not_found")
      }
      const number = freshPhone()
      for (const origin of ["https://evil.example", "null"]) {
        const answer = yield* submit(node, "", { number }, origin)
        assert.deepStrictEqual([answer.status, answer.at("error", "type")], [404, "not_found"])
      }
      assert.strictEqual((yield* json(node, `/${number}`)).status, 404)
    }))
})
