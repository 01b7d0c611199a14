import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { assertRefused } from "../contract/contract.ts"
import { connectedSession } from "../contract/samples.ts"
import { eventually, live, makeAccount, makeKey, Service } from "../support/Service.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { askAgain, create, deliveriesOf } from "../support/webhookStories.ts"

type Entry = Readonly<{ at: string; kind: string; detail: Readonly<Record<string, unknown>>; message?: string }>

const entriesOf = (answer: { readonly at: (...path: ReadonlyArray<string | number>) => unknown }) =>
  (answer.at("data") ?? []) as ReadonlyArray<Entry> // a list, by the contract

const kinds = (entries: ReadonlyArray<Entry>) => entries.map(({ kind }) => kind)

layer(Service.layer())((it) => {
  it.effect("an email's timeline has its attempt with the relay's reply, its status, and its event with the delivery", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      yield* request("POST", "/v1/webhooks", { key, json: { url: "http://127.0.0.1:14999/hook", events: ["email.*"] } })
      const sent = yield* request("POST", "/v1/email/send", {
        key,
        json: { to: "ada@example.com", subject: "Hello", text: "Hello" }
      })
      const path = `/v1/email/messages/${String(sent.at("data", "id"))}/timeline`
      const answer = yield* eventually(
        request("GET", path, { key }),
        (seen) => kinds(entriesOf(seen)).includes("delivery")
      )
      const entries = entriesOf(answer)
      for (const kind of ["accepted", "queued", "claimed", "attempt", "status", "event", "delivery"]) {
        assert.include(kinds(entries), kind)
      }
      assert.deepStrictEqual(entries.map(({ at }) => at), entries.map(({ at }) => at).toSorted())
      const attempt = entries.find(({ kind }) => kind === "attempt")
      assert.deepInclude(attempt?.detail, { attempt: 1, outcome: "accepted", to: "ada@example.com", dialogue: null })
      assert.match(String(attempt?.detail["reply"]), /^250 /)
      assert.deepInclude(entries.find(({ kind }) => kind === "event")?.detail, { event: "email.sent" })
      const other = yield* makeAccount()
      assertRefused(yield* request("GET", path, { key: other.key }), 404, "not_found")
      assertRefused(yield* request("GET", path.replace("/email/", "/sms/"), { key: other.key }), 404, "not_found")
    }))

  it.effect("a timeline has every delivery of its event, also those that were asked for again", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const { url } = yield* makeWebhookReceiver()
      const { id } = yield* create(node, key, { url, events: ["email.sent"] })
      const mail = { to: "ada@example.com", subject: "Hello", text: "Hello" }
      const sent = yield* node.request("POST", "/v1/email/send", { key, json: mail })
      const path = `/v1/email/messages/${String(sent.at("data", "id"))}/timeline`
      const delivered = (count: number) =>
        Effect.map(
          eventually(
            node.request("GET", path, { key }),
            (seen) =>
              entriesOf(seen).filter(({ detail, kind }) => kind === "delivery" && detail["status"] === "delivered")
                .length === count
          ),
          (seen) => entriesOf(seen).flatMap(({ detail, kind }) => kind === "delivery" ? [Number(detail["id"])] : [])
        )
      const [first] = yield* delivered(1)
      yield* askAgain(node, key, id, first)
      yield* delivered(2)
      yield* askAgain(node, key, id, first)
      const all = yield* delivered(3)
      const listed = yield* deliveriesOf(node, key, id, "?sort=created_at")
      assert.deepStrictEqual(all, [0, 1, 2].map((row) => Number(listed.at("data", row, "id"))))
    }))

  it.effect("a refused email's timeline keeps the dialogue without the message", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      const sent = yield* request("POST", "/v1/email/send", {
        key,
        json: { to: "bounce@example.com", subject: "Secret subject", text: "Secret text" }
      })
      const path = `/v1/email/messages/${String(sent.at("data", "id"))}/timeline`
      const entries = entriesOf(
        yield* eventually(request("GET", path, { key }), (seen) => kinds(entriesOf(seen)).includes("attempt"))
      )
      const attempt = entries.find(({ kind }) => kind === "attempt")
      assert.deepInclude(attempt?.detail, { outcome: "refused" })
      assert.match(String(attempt?.detail["reply"]), /^550 5\.1\.1/)
      assert.match(String(attempt?.detail["dialogue"]), /^C: MAIL FROM:<[^]*C: RCPT TO:<bounce@example\.com>[^]*S: 550/)
      assert.notInclude(JSON.stringify(entries), "Secret")
      assert.deepInclude(entries.findLast(({ kind }) => kind === "status")?.detail, {
        status: "bounced",
        source: "relay"
      })
    }))

  it.effect("an email that was never sent says that it was suppressed", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      yield* request("POST", "/v1/email/suppressions", { key, json: { email: "gone@example.com" } })
      const sent = yield* request("POST", "/v1/email/send", {
        key,
        json: { to: "gone@example.com", subject: "Hello", text: "Hello" }
      })
      const answer = yield* request("GET", `/v1/email/messages/${String(sent.at("data", "id"))}/timeline`, { key })
      assert.deepStrictEqual(kinds(entriesOf(answer)), ["accepted", "suppressed"])
    }))

  it.effect("an SMS's timeline has its submit and the receipt", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      const sent = yield* request("POST", "/v1/sms/send", { key, json: { to: "+250788123456", content: "Hello" } })
      const path = `/v1/sms/messages/${String(sent.at("data", "message_id"))}/timeline`
      const entries = entriesOf(
        yield* eventually(
          request("GET", path, { key }),
          (seen) => entriesOf(seen).some(({ detail }) => detail["status"] === "delivered")
        )
      )
      const attempt = entries.find(({ kind }) => kind === "attempt")
      assert.deepInclude(attempt?.detail, { attempt: 1, part: 1, outcome: "accepted", peer: "sandbox" })
      assert.deepInclude(entries.at(-1)?.detail, { status: "delivered", source: "receipt" })
    }))

  it.effect("a timeline with more than 1,000 attempts has the newest ones", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { accountId, key } = yield* makeAccount()
      const sent = yield* request("POST", "/v1/sms/send", { key, json: { to: "+250788123456", content: "Hello" } })
      const id = Number(sent.at("data", "message_id"))
      const sql = yield* SqlClient.SqlClient
      yield* sql`insert into message_attempts (account_id, channel, message_id, part, at, attempt, outcome)
        select ${accountId}, 'sms', ${id}, 1, now() + interval '1 minute' + n * interval '1 millisecond', n, 'deferred'
        from generate_series(1, 1100) n`
      const answer = yield* request("GET", `/v1/sms/messages/${id}/timeline`, { key })
      const attempts = entriesOf(answer).filter(({ kind }) => kind === "attempt")
      assert.deepStrictEqual(
        attempts.map(({ detail }) => detail["attempt"]),
        Array.from({ length: 1_000 }, (_, index) => index + 101)
      )
    }))

  it.effect("a message's acceptance tells the request, the key and the client of every send", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      const session_id = yield* connectedSession(request, key)
      const email = { subject: "Hello", text: "Hello" }
      const sends = [
        ["email", "/v1/email/send", { to: ["ada@example.com", "bob@example.com"], ...email }],
        ["email", "/v1/email/send-bulk", { recipients: ["ada@example.com"], subject: "Hello", html: "Hello" }],
        ["sms", "/v1/sms/send", { to: "+250788123456", content: "Hello" }],
        ["sms", "/v1/sms/send-bulk", { recipients: ["+250788123456"], content: "Hello" }],
        ["sms", "/v1/verify/send", { to: "+250788123456" }],
        ["whatsapp", "/v1/whatsapp/send", { session_id, to: "+15550100301", content: "Hello" }],
        ["whatsapp", "/v1/whatsapp/send-bulk", { session_id, recipients: ["+15550100301"], content: "Hello" }],
        ["email", "/v1/messages", {
          to: { phone: "+15005550001", email: "ada@example.com" },
          steps: [{ channel: "sms", content: "Hello" }, { channel: "email", ...email }]
        }]
      ] as const
      for (const [channel, path, json] of sends) {
        const before = yield* request("GET", `/v1/messages?channel=${channel}&per_page=1`, { key })
        const sent = yield* request("POST", path, { key, json })
        assert.isBelow(sent.status, 300, sent.text)
        const listed = yield* eventually(
          request("GET", `/v1/messages?channel=${channel}&per_page=1`, { key }),
          (seen) => seen.at("data", 0, "id") !== before.at("data", 0, "id")
        )
        const timeline = yield* request("GET", `${String(listed.at("data", 0, "href"))}/timeline`, { key })
        const { detail, kind } = entriesOf(timeline)[0] ?? {}
        assert.strictEqual(kind, "accepted", path)
        assert.deepStrictEqual(detail, {
          batch_id: listed.at("data", 0, "batch_id"),
          request_id: sent.headers["x-request-id"],
          key_prefix: key.slice(0, 12),
          ip: "127.0.0.1"
        }, path)
      }
    }))

  it.effect("a failover's timeline has its end, and the entries of each step's message with its path", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { accountId, key } = yield* makeAccount()
      const receiver = yield* makeWebhookReceiver()
      yield* request("POST", "/v1/webhooks", { key, json: { url: receiver.url, events: ["message.*"] } })
      const sent = yield* request("POST", "/v1/messages", {
        key,
        json: {
          to: { phone: "+15005550001", email: "ada@example.com" },
          steps: [
            { channel: "sms", content: "Hello" },
            { channel: "email", subject: "Hello", text: "Hello", until: "sent" }
          ]
        }
      })
      const id = String(sent.at("data", "id"))
      const path = `/v1/messages/${id}/timeline`
      const answer = yield* eventually(
        request("GET", path, { key }),
        (seen) => {
          const deliveries = entriesOf(seen).filter(({ kind }) => kind === "delivery")
          const told = entriesOf(seen).filter(({ detail, kind }) =>
            kind === "event" && String(detail["event"]).startsWith("message.")
          )
          // The end of the failover and all deliveries: nothing changes between this and the next request.
          return told.some(({ message }) => message === undefined) && deliveries.length === told.length &&
            deliveries.every(({ detail }) => detail["status"] === "delivered")
        }
      )
      const entries = entriesOf(answer)
      const own = entries.filter(({ message }) => message === undefined)
      assert.includeMembers(kinds(own), ["accepted", "status", "event"])
      assert.strictEqual(own[0]?.detail["request_id"], sent.headers["x-request-id"])
      assert.deepInclude(own.find(({ kind }) => kind === "status")?.detail, { status: "sent", source: "service" })
      assert.deepInclude(own.find(({ kind }) => kind === "event")?.detail, { event: "message.sent" })
      const failed = entries.find(({ detail }) => detail["status"] === "failed")
      assert.match(String(failed?.message), /^\/v1\/sms\/messages\/\d+$/)
      const relayed = entries.find(({ detail, message }) => message?.startsWith("/v1/email/") && detail["reply"])
      assert.strictEqual(relayed?.kind, "attempt")
      const narrow = yield* makeKey(accountId, { scopes: ["sms:write"] })
      const seen = entriesOf(yield* request("GET", path, { key: narrow.key }))
      assert.deepStrictEqual(seen, entries.filter(({ message }) => !message?.startsWith("/v1/email/")))
      const other = yield* makeAccount()
      assertRefused(yield* request("GET", path, { key: other.key }), 404, "not_found")
    }))

  it.effect("a key that sends WhatsApp messages sees these steps in a failover's timeline, and lists no messages", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { accountId, key } = yield* makeAccount()
      const sent = yield* request("POST", "/v1/messages", {
        key,
        json: {
          to: { phone: "+15005550006" },
          steps: [{ channel: "sms", content: "Hello" }],
          send_at: DateTime.formatIso(DateTime.add(yield* live(DateTime.now), { hours: 1 }))
        }
      })
      const id = String(sent.at("data", "id"))
      yield* sql`update failover_steps set channel = 'whatsapp', begun_at = now(), error = 'no session'
        where failover_id = ${id}`
      const writer = (yield* makeKey(accountId, { scopes: ["whatsapp:write", "sms:write"] })).key
      const path = `/v1/messages/${id}`
      assert.strictEqual((yield* request("GET", path, { key: writer })).status, 200)
      const entries = entriesOf(yield* request("GET", `${path}/timeline`, { key: writer }))
      assert.deepInclude(entries.map(({ detail }) => detail["error"]), "no session")
      const listed = yield* request("GET", "/v1/messages?channel=whatsapp", { key: writer })
      assertRefused(listed, 403, "insufficient_scope")
    }))

  it.effect("a scheduled failover that was canceled says so in its timeline", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      const send_at = DateTime.formatIso(DateTime.add(yield* live(DateTime.now), { hours: 1 }))
      const json = { to: { phone: "+250788123456" }, steps: [{ channel: "sms", content: "Hello" }], send_at }
      const id = String((yield* request("POST", "/v1/messages", { key, json })).at("data", "id"))
      yield* request("POST", `/v1/messages/${id}/cancel`, { key })
      const entries = entriesOf(yield* request("GET", `/v1/messages/${id}/timeline`, { key }))
      assert.deepStrictEqual(kinds(entries), ["accepted", "scheduled", "canceled"])
    }))

  it.effect("a one-time code's timeline has its messages, its end and its event", () =>
    Effect.gen(function*() {
      const { request } = yield* Service
      const { key } = yield* makeAccount()
      yield* request("POST", "/v1/webhooks", {
        key,
        json: { url: "http://127.0.0.1:14999/hook", events: ["verify.*"] }
      })
      const sent = yield* request("POST", "/v1/verify/send", { key, json: { to: "ada@example.com", channel: "email" } })
      const id = String(sent.at("data", "id"))
      const path = `/v1/verify/status/${id}/timeline`
      const read = request("GET", path, { key })
      const entries = entriesOf(yield* eventually(read, (seen) => kinds(entriesOf(seen)).includes("attempt")))
      assert.deepInclude(entries[0], { kind: "accepted" })
      assert.strictEqual(entries[0]?.detail["request_id"], sent.headers["x-request-id"])
      assert.match(String(entries.find(({ kind }) => kind === "attempt")?.message), /^\/v1\/email\/messages\/\d+$/)
      const sql = yield* SqlClient.SqlClient
      yield* sql`update verifications set expires_at = now() where id = ${id}`
      const ended = entriesOf(yield* eventually(read, (seen) => kinds(entriesOf(seen)).includes("event")))
      assert.deepInclude(ended.find(({ kind }) => kind === "verification")?.detail, { status: "expired" })
      assert.deepInclude(ended.find(({ kind }) => kind === "event")?.detail, { event: "verify.expired" })
      const other = yield* makeAccount()
      assertRefused(yield* request("GET", path, { key: other.key }), 404, "not_found")
    }))
})

for (const [kept, isKept] of [["none", false], ["all", true]] as const) {
  layer(Service.layer({ env: { SMTP_DIALOGUE: kept } }))((it) => {
    it.effect(`with SMTP_DIALOGUE=${kept} ${isKept ? "each attempt keeps its dialogue" : "no attempt keeps its dialogue"}`, () =>
      Effect.gen(function*() {
        const { request } = yield* Service
        const { key } = yield* makeAccount()
        for (const to of ["ada@example.com", "bounce@example.com"]) {
          const sent = yield* request("POST", "/v1/email/send", { key, json: { to, subject: "Hello", text: "Hello" } })
          const path = `/v1/email/messages/${String(sent.at("data", "id"))}/timeline`
          const seen = yield* eventually(
            request("GET", path, { key }),
            (seen) => kinds(entriesOf(seen)).includes("attempt")
          )
          const dialogue = entriesOf(seen).find(({ kind }) => kind === "attempt")?.detail["dialogue"]
          if (isKept) assert.include(String(dialogue), `C: RCPT TO:<${to}>`)
          else assert.isNull(dialogue)
        }
      }))
  })
}
