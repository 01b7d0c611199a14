import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { assertRefused } from "../contract/contract.ts"
import { readQr } from "../support/readQr.ts"
import { eventually, makeAccount, Service } from "../support/Service.ts"
import { makeListener } from "../support/singleMail.ts"
import { longer } from "../support/waiting.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { createSession, pairedSession, untilConnected, untilStatus, WhatsApp } from "../support/WhatsApp.ts"
import { accepted, localFiles, send, unpaced, untilArrived, untilMessage } from "../support/whatsAppMessages.ts"

const layerOptions = { excludeTestServices: true } as const

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

const pdf = Buffer.from("%PDF-1.7 a bill").toString("base64")
const film = Buffer.from("00000018667479706d703432000000006d703432", "hex").toString("base64")
const sound = Buffer.from("4f67675300020000000000000000", "hex").toString("base64")

/** A connected session of a new account, and a phone that receives. */
const scene = Effect.gen(function*() {
  const node = yield* Service
  const { phone, simulator } = yield* WhatsApp
  const { key } = yield* makeAccount()
  const session = yield* pairedSession(node, key)
  return { node, key, session, to: yield* phone, controls: simulator.controls }
})

/** Each content with the type and text that the other phone shows. */
const shown: ReadonlyArray<
  readonly [type: string, content: unknown, seen: { readonly type: string; readonly text?: string | null }]
> = [
  ["text", { body: "Hello" }, { type: "extendedTextMessage", text: "Hello" }],
  ["image", { base64: pixel, mime_type: "image/png", caption: "look" }, { type: "imageMessage", text: "look" }],
  ["video", { base64: film, caption: "watch" }, { type: "videoMessage", text: "watch" }],
  ["audio", { base64: sound, mime_type: "audio/ogg; codecs=opus" }, { type: "audioMessage" }],
  [
    "document",
    { base64: pdf, filename: "a.pdf", mime_type: "application/pdf" },
    { type: "documentMessage", text: "a.pdf" }
  ],
  ["location", { latitude: -1.95, longitude: 30.06, name: "Kigali" }, { type: "locationMessage" }],
  ["location", JSON.stringify({ latitude: -1.95, longitude: 30.06 }), { type: "locationMessage" }],
  ["contact", { name: "Ann; Smith", phones: ["+15550100999"] }, { type: "contactMessage" }],
  ["poll", { question: "Lunch?", options: ["yes", "no"] }, { type: "pollCreationMessageV3", text: "Lunch?" }]
]

layer(WhatsApp.layer({ env: { ...unpaced, ...localFiles, WHATSAPP_MEDIA_MIB: "1" } }), layerOptions)(
  "WhatsApp messages",
  (it) => {
    it.effect("a conversation has what was sent to a number and what came from it, and nothing of other numbers", () =>
      Effect.gen(function*() {
        const { controls, key, node, session, to } = yield* scene
        const other = yield* (yield* WhatsApp).phone
        yield* accepted(node, key, { session_id: session.id, to, content: "Is it ready?" })
        yield* accepted(node, key, { session_id: session.id, to: other, content: "Hello" })
        yield* untilArrived(to, session.number, 1)
        yield* Effect.promise(() => controls.sendText(to, session.number, { text: "Yes" }))
        yield* Effect.promise(() => controls.sendText(other, session.number, { text: "Who is it?" }))
        const texts = (chat: string) =>
          Effect.map(
            node.request("GET", `/v1/whatsapp/messages?chat=${chat}&sort=created_at`, { key }),
            ({ at }) =>
              (at("data") as ReadonlyArray<{ readonly content: { readonly body: string } }>)
                .map(({ content }) => content.body)
          )
        yield* eventually(texts(to), (all) => all.length === 2)
        assert.deepStrictEqual(yield* texts(to), ["Is it ready?", "Yes"])
        assert.deepStrictEqual(yield* eventually(texts(other), (all) => all.length === 2), ["Hello", "Who is it?"])
        assert.deepStrictEqual(yield* texts("+15550109999"), [])
      }))

    it.effect("a message is queued, sent, delivered and read, and each status is published once", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { phone } = yield* WhatsApp
        const listener = yield* makeListener(node, ["message.*"])
        const { key } = listener
        const session = yield* pairedSession(node, key)
        const to = `+${yield* phone}`
        const answer = yield* send(node, key, { session_id: session.id, to: to.slice(1), content: "Hello" })
        assert.strictEqual(answer.status, 202, answer.text)
        const id = Number(answer.at("data", "message_id"))
        const common = { session_id: session.id, to, type: "text" }
        assert.deepStrictEqual(answer.at("data"), { id, message_id: id, ...common, status: "queued", send_at: null })
        assert.strictEqual(answer.headers["location"], `/v1/whatsapp/messages/${id}`)
        const record = yield* untilMessage(node, key, id, "read")
        assert.deepInclude(record, {
          channel: "whatsapp",
          ...common,
          direction: "out",
          from: `+${session.number}`,
          content: { body: "Hello" },
          failed_at: null,
          batch_id: null
        })
        const events = yield* listener.received(4)
        const expected = {
          channel: "whatsapp",
          message_id: id,
          session_id: session.id,
          tags: [],
          metadata: {},
          failover_id: null
        }
        assert.deepStrictEqual(
          events.map(({ data, event }) => ({ event, data })).toSorted((a, b) => a.event < b.event ? -1 : 1),
          [
            { event: "message.delivered", data: { ...expected, delivered_at: record["delivered_at"] } },
            { event: "message.queued", data: { ...expected, to, type: "text", status: "queued" } },
            { event: "message.read", data: { ...expected, read_at: record["read_at"] } },
            { event: "message.sent", data: { ...expected, to, type: "text", status: "sent" } }
          ]
        )
        const list = yield* node.request("GET", `/v1/whatsapp/messages?session_id=${session.id}&status=read`, { key })
        assert.deepStrictEqual([list.at("meta", "total"), list.at("data", 0, "id")], [1, id])
        const totalOf = (query: string) =>
          Effect.map(
            node.request("GET", `/v1/whatsapp/messages?${query}=${String(record["created_at"])}`, { key }),
            ({ at }) => at("meta", "total")
          )
        assert.deepStrictEqual([yield* totalOf("from_date"), yield* totalOf("to_date")], [1, 0])
        const sessions = yield* node.request("GET", "/v1/whatsapp/sessions", { key })
        assert.strictEqual(sessions.at("data", 0, "messages_count"), 1)
      }))

    it.effect("each type of message arrives decrypted, and files arrive whole", () =>
      Effect.gen(function*() {
        const { controls, key, node, session, to } = yield* scene
        for (const [type, content, seen] of shown) {
          const before = controls.messages(to).length
          yield* accepted(node, key, { session_id: session.id, to, type, content })
          const message = (yield* untilArrived(to, session.number, before + 1))[before]
          assert.deepInclude(message, seen, type)
          if (["image", "video", "audio", "document"].includes(type)) {
            const file = yield* Effect.promise(() => controls.media(to, message?.id ?? ""))
            const { base64, mime_type } = content as { readonly base64: string; readonly mime_type?: string }
            assert.strictEqual(file.base64, base64, type)
            if (mime_type !== undefined) assert.strictEqual(file.mimetype, mime_type)
          }
        }
      }))

    it.effect("a reaction refers to an earlier message of its chat and to no other", () =>
      Effect.gen(function*() {
        const { controls, key, node, session, to } = yield* scene
        const other = yield* scene
        const foreign = yield* accepted(other.node, other.key, { session_id: other.session.id, to, content: "theirs" })
        yield* untilMessage(other.node, other.key, foreign, "read")
        const id = yield* accepted(node, key, { session_id: session.id, to, content: "Hello" })
        yield* untilMessage(node, key, id, "read")
        const reaction = { session_id: session.id, to, type: "reaction" }
        yield* accepted(node, key, { ...reaction, content: { message_id: id, emoji: "👍" } })
        const [, message] = yield* untilArrived(to, session.number, 2)
        assert.deepInclude(message, { type: "reactionMessage", text: "👍" })
        const elsewhere = { ...reaction, to: other.to, content: { message_id: id, emoji: "👍" } }
        const answers = [
          yield* send(node, key, { ...reaction, content: { message_id: foreign, emoji: "👍" } }),
          yield* send(node, key, elsewhere),
          yield* node.request("POST", "/v1/whatsapp/send-bulk", {
            key,
            json: { ...elsewhere, recipients: [to, other.to] }
          })
        ]
        for (const refused of answers) {
          assertRefused(refused, 422, "validation_error")
          assert.strictEqual(refused.at("error", "param"), "content.message_id")
        }
        assert.lengthOf(controls.messages(to).filter(({ from }) => from === session.number), 2)
      }))

    it.effect("a file is fetched from its URL, or the message fails with the reason", () =>
      Effect.gen(function*() {
        const { controls, key, node, session, to } = yield* scene
        const typesOfPaths: Readonly<Record<string, string>> = { "/text": "text/plain", "/drawing": "image/svg+xml" }
        const receiver = yield* makeWebhookReceiver({
          script: (request) => ({
            status: request.path === "/gone" ? 404 : 200,
            headers: { "content-type": typesOfPaths[request.path] ?? "image/png" },
            body: request.path === "/large" ? Buffer.alloc(3 * 1024 * 1024) : Buffer.from(pixel, "base64")
          })
        })
        const image = { session_id: session.id, to, type: "image" }
        const good = yield* accepted(node, key, { ...image, content: `${receiver.url}/good` })
        yield* untilMessage(node, key, good, "read")
        const [message] = controls.messages(to)
        const file = yield* Effect.promise(() => controls.media(to, message?.id ?? ""))
        assert.deepStrictEqual(file, { mimetype: "image/png", base64: pixel })
        const failing = [["/gone", "media_http_status"], ["/text", "media_type"], ["/drawing", "media_type"], [
          "/large",
          "media_too_large"
        ]] as const
        for (const [path, code] of failing) {
          const id = yield* accepted(node, key, { ...image, content: { url: `${receiver.url}${path}` } })
          assert.strictEqual((yield* untilMessage(node, key, id, "failed"))["error_code"], code)
        }
        assert.lengthOf(controls.messages(to), 1)
      }))

    it.effect("a message fails when the recipient is not on WhatsApp or the server refuses it, with the error code", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { phone, simulator } = yield* WhatsApp
        const listener = yield* makeListener(node, ["message.failed"])
        const { key } = listener
        const session = yield* pairedSession(node, key)
        const unreachable = yield* accepted(node, key, {
          session_id: session.id,
          to: "+442079460000",
          content: "Hello"
        })
        assert.deepInclude(yield* untilMessage(node, key, unreachable, "failed"), {
          error_code: "recipient_not_on_whatsapp"
        })
        simulator.controls.setFault(session.number, { kind: "ack-error", code: 463 })
        const refused = yield* accepted(node, key, { session_id: session.id, to: yield* phone, content: "Hello" })
        const record = yield* untilMessage(node, key, refused, "failed")
        assert.deepInclude(record, { error_code: "463", sent_at: null })
        const [first, second] = yield* listener.received(2)
        const expected = { channel: "whatsapp", session_id: session.id }
        assert.deepInclude(first?.data, {
          ...expected,
          message_id: unreachable,
          error_code: "recipient_not_on_whatsapp"
        })
        assert.deepInclude(second?.data, { ...expected, message_id: refused, error_code: "463" })
      }))

    it.effect("a message that a phone cannot decrypt is sent to it again", () =>
      Effect.gen(function*() {
        const { controls, key, node, session, to } = yield* scene
        // The session's own phone gets a copy and cannot decrypt it either.
        controls.setFault(session.number, { kind: "ask-retry", times: 2 })
        const id = yield* accepted(node, key, { session_id: session.id, to, content: "once more" })
        yield* untilMessage(node, key, id, "read")
        assert.lengthOf(controls.messages(to).filter(({ text }) => text === "once more"), 1)
        assert.strictEqual(controls.counters().phones[to]?.retriesAsked, 1)
      }))

    for (const kind of ["drop-before-ack", "drop-after-ack"] as const) {
      it.effect(`a message survives a broken connection (${kind}): it is sent again under the same id and shown once`, () =>
        Effect.gen(function*() {
          const { controls, key, node, session, to } = yield* scene
          const first = yield* accepted(node, key, { session_id: session.id, to, content: "first" })
          yield* untilMessage(node, key, first, "read")
          controls.setFault(session.number, { kind })
          const id = yield* accepted(node, key, { session_id: session.id, to, content: "second" })
          yield* untilMessage(node, key, id, "read")
          const seen = controls.messages(to).filter(({ text }) => text === "second")
          assert.lengthOf(seen, 1)
          const [row] = yield* Effect.flatMap(
            SqlClient.SqlClient,
            (sql) => sql`select whatsapp_id from whatsapp_outbox where message_id = ${id}`
          )
          assert.strictEqual(row?.["whatsapp_id"], seen[0]?.id)
        }))
    }

    it.effect("a group message reaches every member, and one to an unknown group fails", () =>
      Effect.gen(function*() {
        const { controls, key, node, session, to } = yield* scene
        const { phone } = yield* WhatsApp
        const third = yield* phone
        const group = controls.createGroup(to, "Team", [session.number, third])
        const other = controls.createGroup(to, "Others", [third])
        const id = yield* accepted(node, key, { session_id: session.id, to: group.id, content: "all" })
        yield* untilArrived(to, session.number, 1)
        assert.deepInclude((yield* untilArrived(third, session.number, 1))[0], { text: "all", chat: group.id })
        yield* untilMessage(node, key, id, "read")
        const lost = yield* accepted(node, key, { session_id: session.id, to: other.id, content: "nobody" })
        assert.deepInclude(yield* untilMessage(node, key, lost, "failed"), { error_code: "group_unknown" })
      }))

    it.effect("a message to a group that the session has left since an earlier one fails, and arrives after it rejoins", () =>
      Effect.gen(function*() {
        const { controls, key, node, session, to } = yield* scene
        const group = controls.createGroup(to, "Team", [session.number])
        const post = (content: string) => accepted(node, key, { session_id: session.id, to: group.id, content })
        const groups = node.request("GET", "/v1/whatsapp/groups", { key })
        const known = (count: number) => eventually(groups, ({ at }) => at("meta", "total") === count)
        yield* untilMessage(node, key, yield* post("hello"), "read")
        yield* known(1)
        controls.changeGroup(group.id, to, { action: "remove", numbers: [session.number] })
        yield* known(0)
        assert.deepInclude(yield* untilMessage(node, key, yield* post("anyone?"), "failed"), {
          error_code: "group_unknown"
        })
        controls.changeGroup(group.id, to, { action: "add", numbers: [session.number] })
        yield* known(1)
        yield* untilMessage(node, key, yield* post("back"), "read")
      }))

    it.effect("an unacknowledged message fails when its session is deleted or logged out, with that reason", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const sql = yield* SqlClient.SqlClient
        const { phone, simulator: { controls } } = yield* WhatsApp
        const listener = yield* makeListener(node, ["message.failed"])
        const { key } = listener
        for (
          const [index, [end, code]] of ([
            ["delete", "session_deleted"],
            ["log out", "session_logged_out"]
          ] as const).entries()
        ) {
          const session = yield* pairedSession(node, key)
          controls.setFault(session.number, { kind: "no-ack" })
          const id = yield* accepted(node, key, { session_id: session.id, to: yield* phone, content: "Hello" })
          yield* eventually(
            sql`select status from whatsapp_outbox where message_id = ${id}`,
            ([row]) => row?.["status"] === "written"
          )
          if (end === "log out") controls.logOut(session.device)
          else yield* node.request("DELETE", `/v1/whatsapp/sessions/${session.id}`, { key })
          assert.deepInclude(yield* untilMessage(node, key, id, "failed"), { error_code: code, sent_at: null })
          const event = (yield* listener.received(index + 1))[index]
          assert.deepInclude(event?.data, { message_id: id, session_id: session.id, error_code: code })
        }
      }))

    it.effect("queued messages fail when the phone logs the session out, even when the next phone scans at once", () =>
      Effect.gen(function*() {
        const { controls, key, node, session, to } = yield* scene
        const { phone } = yield* WhatsApp
        const bulk = yield* node.request("POST", "/v1/whatsapp/send-bulk", {
          key,
          json: { session_id: session.id, recipients: [to, to, to], content: "for the first phone", delay_ms: 60_000 }
        })
        yield* untilArrived(to, session.number, 1)
        controls.logOut(session.device)
        yield* untilStatus(node, key, session.id, "failed")
        const code = yield* node.request("GET", `/v1/whatsapp/sessions/${session.id}/qr`, { key })
        const next = yield* phone
        controls.scan(readQr(String(code.at("qr_code"))), next)
        yield* untilConnected(node, key, session.id, (qr) => Effect.sync(() => controls.scan(qr, next)))
        const batch = yield* eventually(
          node.request("GET", `/v1/whatsapp/batches/${String(bulk.at("data", "batch_id"))}`, { key }),
          ({ at }) => at("data", "queued") === 0,
          longer.turn
        )
        assert.deepInclude(batch.at("data"), { status: "completed", sent: 1, failed: 2 })
        const list = yield* node.request("GET", `/v1/whatsapp/messages?status=failed`, { key })
        assert.strictEqual(list.at("data", 0, "error_code"), "session_logged_out")
        const id = yield* accepted(node, key, { session_id: session.id, to, content: "for the next one" })
        yield* untilMessage(node, key, id, "read")
        assert.deepStrictEqual((yield* untilArrived(to, next, 1)).map(({ text }) => text), ["for the next one"])
      }))
  }
)

/** Why it is refused, the body, the parameter named, and part of the message. */
const refused: ReadonlyArray<readonly [what: string, body: Record<string, unknown>, param: string, says: RegExp]> = [
  ["no recipient", { to: undefined }, "to", /is required/],
  ["both a number and a group", { group_id: 1 }, "group_id", /left out/],
  ["an impossible number", { to: "+12" }, "to", /not a possible number/],
  ["the jid of a person", { to: "15550100200@s.whatsapp.net" }, "to", /phone number or the WhatsApp id of a group/],
  ["an unknown type", { type: "sticker" }, "type", /must be one of text/],
  ["no content", { content: undefined }, "content", /is required/],
  ["an empty text", { content: "" }, "content.body", /must not be empty/],
  ["a blank text", { content: "  \n" }, "content.body", /must not be blank/],
  ["5,000 characters", { content: "a".repeat(5_000) }, "content.body", /at most 4096 characters/],
  ["a text in the place of a location", { type: "location", content: "here" }, "content", /must be an object/],
  ["a latitude of 91", { type: "location", content: { latitude: 91, longitude: 0 } }, "content.latitude", /between/],
  [
    "a poll with one option",
    { type: "poll", content: { question: "?", options: ["a"] } },
    "content.options",
    /at least 2/
  ],
  [
    "a contact without a number",
    { type: "contact", content: { name: "A", phones: [] } },
    "content.phones",
    /at least one/
  ],
  ["a picture from nowhere", { type: "image", content: { caption: "a" } }, "content", /either url or base64/],
  [
    "a picture of a wrong type",
    { type: "image", content: { base64: pixel, mime_type: "text/html" } },
    "content.mime_type",
    /begins with image/
  ],
  [
    "a drawing that is called a picture",
    { type: "image", content: { base64: Buffer.from("<svg width='1'/>").toString("base64") } },
    "content.base64",
    /does not show image\/svg\+xml/
  ],
  [
    "a document that is called a picture",
    { type: "image", content: { base64: pdf } },
    "content.base64",
    /must be the bytes of an image; they are application\/pdf/
  ],
  ["a text that is called a film", { type: "video", content: { base64: "aGVsbG8=" } }, "content.base64", /text\/plain/],
  [
    "a picture of another type than is said",
    { type: "image", content: { base64: pixel, mime_type: "image/jpeg" } },
    "content.mime_type",
    /image\/png/
  ],
  ["bytes that are not base64", { type: "image", content: { base64: "no!!" } }, "content.base64", /must be base64/],
  [
    "8 MiB of base64",
    { type: "document", content: { base64: "A".repeat(10_000_000) } },
    "content.base64",
    /at most 7 MiB/
  ],
  ["a file from a private address", { type: "image", content: "https://10.0.0.1/a.png" }, "content.url", /not public/],
  // The tests' nodes allow this address for webhooks.
  [
    "a file from this machine",
    { type: "image", content: "https://localhost:8443/a.png" },
    "content.url",
    /this machine/
  ],
  ["a file from its address", { type: "image", content: "https://127.0.0.1:8443/a.png" }, "content.url", /not public/],
  ["a file from it by HTTP", { type: "image", content: "http://127.0.0.1:8080/a.png" }, "content.url", /https/],
  ["a file over plain HTTP", { type: "image", content: "http://example.com/a.png" }, "content.url", /https/],
  [
    "a file of another scheme",
    { type: "image", content: "file:///etc/passwd" },
    "content.url",
    /such as .*photo\.jpg$/
  ],
  [
    "a reaction that is no emoji",
    { type: "reaction", content: { message_id: 999_999, emoji: "hello" } },
    "content.emoji",
    /must be one emoji/
  ],
  [
    "a reaction to nothing",
    { type: "reaction", content: { message_id: 999_999, emoji: "👍" } },
    "content.message_id",
    /has sent/
  ]
]

layer(WhatsApp.layer({ env: unpaced }), layerOptions)("requests for WhatsApp messages", (it) => {
  it.effect("an invalid request is refused with the reason, and nothing is stored", () =>
    Effect.gen(function*() {
      const { key, node, session } = yield* scene
      for (const [what, body, param, says] of refused) {
        const json = { session_id: session.id, to: "+15550100200", content: "Hello", ...body }
        const answer = yield* send(node, key, json)
        assertRefused(answer, 422, "validation_error")
        assert.strictEqual(answer.at("error", "param"), param, what)
        assert.match(String(answer.at("error", "errors", 0, "message")), says, what)
      }
      const large = {
        session_id: session.id,
        to: "+15550100200",
        type: "document",
        content: { base64: "A".repeat(11_000_000) }
      }
      assert.strictEqual((yield* send(node, key, large)).status, 413)
      const list = yield* node.request("GET", "/v1/whatsapp/messages", { key })
      assert.strictEqual(list.at("meta", "total"), 0)
    }))

  it.effect("a request for a session that is not connected gets 409, and one for another account's session 404", () =>
    Effect.gen(function*() {
      const { controls, key, node, session } = yield* scene
      const hello = { to: "+15550100200", content: "Hello" }
      const stranger = yield* makeAccount()
      assertRefused(yield* send(node, stranger.key, { session_id: session.id, ...hello }), 404, "not_found")
      assertRefused(yield* send(node, key, { session_id: 999_999, ...hello }), 404, "not_found")
      assertRefused(
        yield* send(node, key, { session_id: session.id, group_id: 999_999, content: "Hello" }),
        404,
        "not_found"
      )
      const pending = yield* createSession(node, key)
      const early = yield* send(node, key, { session_id: pending.id, ...hello })
      assertRefused(early, 409, "session_not_connected")
      assert.deepInclude(early.at("error"), { code: 4091, session_status: "pending" })
      assert.include(early.text, "Scan the code of GET /v1/whatsapp/sessions/{id}/qr")
      controls.endConnection(session.device, 440)
      yield* untilStatus(node, key, session.id, "disconnected")
      const away = yield* send(node, key, { session_id: session.id, ...hello })
      assertRefused(away, 409, "session_not_connected")
      assert.deepInclude(away.at("error"), { session_status: "disconnected" })
      controls.logOut(session.device)
      // A request for a code makes the session try its credentials, which are revoked.
      yield* node.request("GET", `/v1/whatsapp/sessions/${session.id}/qr`, { key })
      yield* untilStatus(node, key, session.id, "failed")
      assertRefused(yield* send(node, key, { session_id: session.id, ...hello }), 409, "session_not_connected")
      yield* node.request("DELETE", `/v1/whatsapp/sessions/${session.id}`, { key })
      assertRefused(yield* send(node, key, { session_id: session.id, ...hello }), 404, "not_found")
    }))

  it.effect("sending is refused once the trial is over", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { phone } = yield* WhatsApp
      const { accountId, key } = yield* makeAccount({ plan: "starter", trial: true })
      const session = yield* pairedSession(node, key)
      const message = { session_id: session.id, to: yield* phone, content: "Hello" }
      yield* accepted(node, key, message)
      yield* sql`update accounts set trial_ends_at = now() - interval '1 minute' where id = ${accountId}`
      assertRefused(yield* send(node, key, message), 402, "subscription_expired")
    }))

  it.effect("a repeated request with one Idempotency-Key sends one message", () =>
    Effect.gen(function*() {
      const { key, node, session, to } = yield* scene
      const ask = node.request("POST", "/v1/whatsapp/send", {
        key,
        json: { session_id: session.id, to, content: "Hello" },
        headers: { "idempotency-key": "one" }
      })
      const [first, second] = [yield* ask, yield* ask]
      assert.strictEqual(second.headers["idempotency-replayed"], "true")
      assert.strictEqual(second.text, first.text)
      yield* untilMessage(node, key, Number(first.at("data", "message_id")), "read")
      assert.lengthOf(yield* untilArrived(to, session.number, 1), 1)
    }))
})

const traceLogging = { ...unpaced, LOG_LEVEL: "trace" } as const

/** How libsignal, Baileys and our own credentials name secrets. */
const keyMaterial =
  /privKey|rootKey|chainKey|baseKey|noiseKey|advSecret|signedIdentityKey|SessionEntry|Closing session|<Buffer/

layer(WhatsApp.layer({ env: traceLogging }), layerOptions)("logs of a node", (it) => {
  it.effect("no log line contains a message's text or a key at any level, even after errors", () =>
    Effect.gen(function*() {
      const { controls, key, node, session, to } = yield* scene
      const text = "the-text-that-must-not-be-logged"
      const message = { session_id: session.id, to, content: text }
      yield* untilMessage(node, key, yield* accepted(node, key, message), "read")
      controls.setFault(session.number, { kind: "ask-retry", times: 2 })
      yield* untilMessage(node, key, yield* accepted(node, key, message), "read")
      controls.setFault(session.number, { kind: "drop-before-ack" })
      yield* untilMessage(node, key, yield* accepted(node, key, message), "read")
      controls.setFault(session.number, { kind: "ack-error", code: 463 })
      yield* untilMessage(node, key, yield* accepted(node, key, message), "failed")
      yield* accepted(node, key, { ...message, type: "poll", content: { question: text, options: [text, "no"] } })
      yield* accepted(node, key, { ...message, to: "+442079460000" })
      yield* accepted(node, key, { ...message, type: "image", content: { base64: pixel, caption: text } })
      yield* send(node, key, { ...message, type: "image" })
      controls.setFault(session.number, { kind: "corrupt" })
      yield* Effect.promise(() => controls.sendText(to, session.number, { text }))
      yield* Effect.promise(() => controls.sendText(to, session.number, { text }))
      yield* untilArrived(to, session.number, 5)
      const logs = node.logs.join("\n")
      assert.include(logs, "WhatsApp session connected")
      assert.notInclude(logs, text)
      assert.notInclude(logs, pixel.slice(0, 40))
      assert.notMatch(logs, keyMaterial)
    }))
})
