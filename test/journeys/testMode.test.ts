import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, FileSystem, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { guarded } from "../contract/contract.ts"
import { freePort } from "../support/freePort.ts"
import { eventually, makeAccount, makeKey, type RunningNode, startNode } from "../support/Service.ts"
import * as Sink from "../support/SmtpSink.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"
import { makeWebhookReceiver, type WebhookReceiver } from "../support/WebhookReceiver.ts"

/** A production node with a real relay and a real SMS provider, which record all that they get. */
class Production extends Context.Service<Production, {
  readonly node: RunningNode
  readonly relay: Sink.SmtpSink
  readonly carrier: WebhookReceiver
  readonly metricsPort: number
}>()("messaging-service/test/journeys/testMode.test/Production") {
  static readonly layer = Layer.effect(
    Production,
    Effect.gen(function*() {
      const relay = yield* Sink.make()
      const metricsPort = yield* freePort
      const carrier = yield* makeWebhookReceiver({
        script: (_, index) => ({ status: 200, body: `{"id":"p-${index}"}` })
      })
      const fs = yield* FileSystem.FileSystem
      const file = yield* fs.makeTempFileScoped({ suffix: ".json" })
      const profile = {
        name: "double",
        url: `${carrier.url}/send`,
        headers: {},
        encoding: "json",
        body: { to: "{{to}}", text: "{{text}}" },
        id: "id",
        error: "error",
        receipt: {
          secret: "a-secret-of-tests-1",
          id: "id",
          status: "status",
          delivered: ["ok"],
          failed: ["no"],
          error: "code"
        }
      }
      yield* fs.writeFileString(file, JSON.stringify(profile))
      const env = {
        SMS_PROVIDER: "http",
        SMS_HTTP_PROFILE: file,
        SANDBOX_TOKEN: undefined,
        WHATSAPP_URL: "ws://127.0.0.1:9/ws/chat",
        METRICS_PORT: String(metricsPort)
      }
      return { relay, carrier, metricsPort, node: yield* startNode({ smtpPort: relay.port, env }) }
    })
  ).pipe(Layer.provide(NodeServices.layer), Layer.provideMerge(TestDatabase.layer))
}

/** An account with a live and a test key. */
const makePair = Effect.fnUntraced(function*() {
  const { accountId, key: live } = yield* makeAccount()
  const { key: test } = yield* makeKey(accountId, { mode: "test" })
  return { accountId, live, test }
})

/** A message of either mode that has come to one of the statuses. */
const reaching = Effect.fnUntraced(function*(path: string, key: string, statuses: ReadonlyArray<string>) {
  const { node } = yield* Production
  return yield* eventually(
    node.request("GET", path, { key }),
    ({ at }) => statuses.includes(String(at("data", "status")))
  )
})

/** What the relay got for an address. */
const atRelay = ({ messages }: Sink.SmtpSink, to: string) => messages.filter((mail) => mail.to.includes(to)).length

layer(Production.layer, { excludeTestServices: true })(
  "test mode on a production node",
  (it) => {
    it.effect("a test email and a test batch go to the sandbox, and the relay sees the live ones only", () =>
      Effect.gen(function*() {
        const { node, relay } = yield* Production
        const sql = yield* SqlClient.SqlClient
        const { accountId, live, test } = yield* makePair()
        const to = `ada-${accountId}@example.com`
        const send = (key: string, subject: string) =>
          node.request("POST", "/v1/email/send", { key, json: { to, subject, text: "Hello" } })
        const bulk = (key: string, subject: string) =>
          node.request("POST", "/v1/email/send-bulk", {
            key,
            json: { subject, html: "<p>Hello</p>", recipients: [to, `bounce-${accountId}@example.com`] }
          })
        for (const [key, mode] of [[live, "live"], [test, "test"]] as const) {
          const { at, status, text } = yield* send(key, `single ${mode}`)
          assert.strictEqual(status, 202, text)
          yield* reaching(`/v1/email/messages/${String(at("data", "id"))}`, key, ["sent"])
          const batch = yield* bulk(key, `batch ${mode}`)
          yield* reaching(`/v1/email/batches/${String(batch.at("data", "batch_id"))}`, key, ["completed"])
        }
        const got = relay.messages.filter((mail) => mail.to.includes(to)).map(({ raw }) =>
          /^Subject: (.*)$/m.exec(raw.toString())?.[1]?.trim()
        )
        assert.sameMembers(got, ["single live", "batch live"])
        const kept = yield* sql`select subject, account_id from sandbox_mails where recipient = ${to} order by id`
        assert.deepStrictEqual(kept.map((row) => [row["subject"], Number(row["account_id"])]), [
          ["single test", -accountId],
          ["batch test", -accountId]
        ])
        // The magic address of the sandbox bounced, and suppressed the address for the test account alone.
        const suppressed = (key: string) => node.request("GET", "/v1/email/suppressions", { key })
        assert.deepStrictEqual((yield* suppressed(test)).at("data", 0, "email"), `bounce-${accountId}@example.com`)
        assert.deepStrictEqual((yield* suppressed(live)).at("data"), [])
      }))

    it.effect("a test SMS and a test batch go to the sandbox at no cost, and the provider sees the live ones only", () =>
      Effect.gen(function*() {
        const { carrier, node } = yield* Production
        const sql = yield* SqlClient.SqlClient
        const { accountId, live, test } = yield* makePair()
        const to = "+250788123456"
        for (const [key, mode] of [[live, "live"], [test, "test"]] as const) {
          const { at, status, text } = yield* node.request("POST", "/v1/sms/send", {
            key,
            json: { to, content: `one ${mode} ${accountId}` }
          })
          assert.strictEqual(status, 202, text)
          const record = yield* reaching(`/v1/sms/messages/${String(at("data", "message_id"))}`, key, [
            "sent",
            "delivered"
          ])
          assert.strictEqual(Number(record.at("data", "cost_usd")) > 0, mode === "live")
          const batch = yield* node.request("POST", "/v1/sms/send-bulk", {
            key,
            json: { recipients: [to], content: `all ${mode} ${accountId}` }
          })
          yield* reaching(`/v1/sms/batches/${String(batch.at("data", "batch_id"))}`, key, ["completed"])
          const code = yield* node.request("POST", "/v1/verify/send", {
            key,
            json: { to, brand_name: `B${accountId}` }
          })
          assert.strictEqual(code.status, 201, code.text)
        }
        // The receipt of the sandbox arrives too.
        const list = yield* eventually(
          node.request("GET", "/v1/sms/messages", { key: test }),
          ({ at }) => [0, 1, 2].every((index) => at("data", index, "status") === "delivered")
        )
        assert.strictEqual(list.at("meta", "total"), 3)
        yield* carrier.received(3)
        const texts = carrier.requests.map(({ body }) => String(JSON.parse(body.toString()).text))
        assert.deepStrictEqual(texts.filter((text) => text.endsWith(` ${accountId}`)).toSorted(), [
          `all live ${accountId}`,
          `one live ${accountId}`
        ])
        assert.strictEqual(texts.filter((text) => text.includes(`B${accountId}`)).length, 1)
        const kept = yield* sql`select body, account_id from sandbox_sms where account_id = ${-accountId} order by id`
        assert.strictEqual(kept.length, 3)
        const usage = yield* node.request("GET", "/v1/account/billing", { key: test })
        assert.strictEqual(usage.at("data", "amount_usd"), 0)
      }))

    it.effect("reports of magic addresses arrive for test emails, although the node listens for none", () =>
      Effect.gen(function*() {
        const { node } = yield* Production
        const { test } = yield* makePair()
        const states = { latebounce: "bounced", delivered: "delivered", complain: "complained" }
        for (const [name, status] of Object.entries(states)) {
          const json = { to: `${name}@example.com`, subject: "Hello", text: "Hello" }
          const { at } = yield* node.request("POST", "/v1/email/send", { key: test, json })
          yield* reaching(`/v1/email/messages/${String(at("data", "id"))}`, test, [status])
        }
      }))

    it.effect("numbers that fail on purpose fail for a test key, and are numbers like any other for a live one", () =>
      Effect.gen(function*() {
        const { carrier, node } = yield* Production
        const { accountId, live, test } = yield* makePair()
        const sms = { to: "+15005550001", content: `magic ${accountId}` }
        const refused = yield* node.request("POST", "/v1/sms/send", { key: test, json: sms })
        yield* reaching(`/v1/sms/messages/${String(refused.at("data", "message_id"))}`, test, ["failed"])
        const sent = yield* node.request("POST", "/v1/sms/send", { key: live, json: sms })
        yield* reaching(`/v1/sms/messages/${String(sent.at("data", "message_id"))}`, live, ["sent"])
        const texts = carrier.requests.map(({ body }) => String(JSON.parse(body.toString()).text))
        assert.strictEqual(texts.filter((text) => text === sms.content).length, 1)
        const session = yield* node.request("POST", "/v1/whatsapp/sessions", { key: test, json: { name: "Shop" } })
        const session_id = Number(session.at("id"))
        yield* eventually(
          node.request("GET", `/v1/whatsapp/sessions/${session_id}`, { key: test }),
          ({ at }) => at("status") === "connected"
        )
        const json = { session_id, to: "+15550100000", content: "Hello" }
        const chat = yield* node.request("POST", "/v1/whatsapp/send", { key: test, json })
        yield* reaching(`/v1/whatsapp/messages/${String(chat.at("data", "message_id"))}`, test, ["failed"])
      }))

    it.effect("test messages are sent while the relay is away, and live ones wait for it", () =>
      Effect.gen(function*() {
        const { relay } = yield* Production
        const node = yield* startNode({ smtpPort: 1 })
        const { accountId, live, test } = yield* makePair()
        const to = `eve-${accountId}@example.com`
        const json = { to, subject: "Hello", text: "Hello" }
        const ids = yield* Effect.forEach(
          [live, test],
          (key) =>
            Effect.map(node.request("POST", "/v1/email/send", { key, json }), ({ at }) => String(at("data", "id")))
        )
        const batch = yield* node.request("POST", "/v1/email/send-bulk", {
          key: test,
          json: { subject: "Hello", html: "<p>Hello</p>", recipients: [to] }
        })
        yield* reaching(`/v1/email/messages/${ids[1]}`, test, ["sent"])
        yield* reaching(`/v1/email/batches/${String(batch.at("data", "batch_id"))}`, test, ["completed"])
        // The other node, which has a relay, sends the live one. While both run, either may claim it.
        yield* node.stop()
        yield* reaching(`/v1/email/messages/${ids[0]}`, live, ["sent"])
        assert.strictEqual(atRelay(relay, to), 1)
      }))

    it.effect("every account and its test keys have their own sending domains, which verify themselves in test mode", () =>
      Effect.gen(function*() {
        const { node } = yield* Production
        const pairs = [yield* makePair(), yield* makePair()]
        for (const { live, test } of pairs) {
          const json = { domain: "shop.example" }
          const added = yield* node.request("POST", "/v1/email/domains", { key: test, json })
          assert.strictEqual(added.status, 201, added.text)
          yield* reaching(`/v1/email/domains/${String(added.at("data", "id"))}`, test, ["verified"])
          const from = { from: "us@shop.example", to: "ada@example.com", subject: "Hello", text: "Hello" }
          const sent = yield* node.request("POST", "/v1/email/send", { key: test, json: from })
          yield* reaching(`/v1/email/messages/${String(sent.at("data", "id"))}`, test, ["sent"])
          assert.strictEqual((yield* node.request("POST", "/v1/email/send", { key: live, json: from })).status, 422)
          assert.deepStrictEqual((yield* node.request("GET", "/v1/email/domains", { key: live })).at("data"), [])
        }
      }))

    it.effect("a test session connects to the sandbox by itself, while a live one waits for a phone of WhatsApp", () =>
      Effect.gen(function*() {
        const { node } = yield* Production
        const { accountId, live, test } = yield* makePair()
        const made = yield* node.request("POST", "/v1/whatsapp/sessions", { key: test, json: { name: "Shop" } })
        assert.strictEqual(made.status, 201, made.text)
        const id = Number(made.at("id"))
        const connected = yield* eventually(
          node.request("GET", `/v1/whatsapp/sessions/${id}`, { key: test }),
          ({ at }) => at("status") === "connected"
        )
        assert.match(String(connected.at("phone_number")), /^999/)
        const json = { session_id: id, to: "+15550100301", content: `Hello ${accountId}` }
        const sent = yield* node.request("POST", "/v1/whatsapp/send", { key: test, json })
        assert.strictEqual(sent.status, 202, sent.text)
        yield* reaching(`/v1/whatsapp/messages/${String(sent.at("data", "message_id"))}`, test, ["delivered", "read"])
        const chats = yield* node.request("GET", "/v1/sandbox/messages?channel=whatsapp&wait=10", { key: test })
        assert.deepInclude(chats.at("data", 0), { channel: "whatsapp", to: "+15550100301", text: `Hello ${accountId}` })
        assert.strictEqual(chats.at("meta", "total"), 1)
        for (const path of ["/v1/whatsapp/sessions", "/v1/whatsapp/messages"]) {
          assert.deepStrictEqual((yield* node.request("GET", path, { key: live })).at("data"), [])
        }
      }))

    it.effect("a test key reads and clears what it sent, and nothing of other accounts", () =>
      Effect.gen(function*() {
        const { node } = yield* Production
        const [mine, theirs] = [yield* makePair(), yield* makePair()]
        const attachments = [{
          filename: "a.txt",
          content: Buffer.from("abc").toString("base64"),
          content_type: "text/plain"
        }]
        for (const { accountId, live, test } of [mine, theirs]) {
          for (const key of [live, test]) {
            const mail = { to: `ada-${accountId}@example.com`, subject: "Hello", html: "<p>Hi</p>", attachments }
            assert.strictEqual((yield* node.request("POST", "/v1/email/send", { key, json: mail })).status, 202)
            const sms = { to: "+250788123456", content: `Hi ${accountId}` }
            assert.strictEqual((yield* node.request("POST", "/v1/sms/send", { key, json: sms })).status, 202)
          }
        }
        const list = (key: string, query = "") => node.request("GET", `/v1/sandbox/messages${query}`, { key })
        const listed = yield* eventually(list(mine.test), ({ at }) => at("meta", "total") === 2)
        assert.sameMembers([0, 1].map((index) => listed.at("data", index, "channel")), ["email", "sms"])
        const mail = yield* list(mine.test, "?channel=email&to=ada-&wait=5")
        assert.deepInclude(mail.at("data", 0), {
          subject: "Hello",
          to: `ada-${mine.accountId}@example.com`,
          mode: "test"
        })
        assert.deepStrictEqual(mail.at("data", 0, "attachments"), [
          { name: "a.txt", type: "text/plain", size: 3, content: "YWJj" }
        ])
        const sms = yield* list(mine.test, "?to=%2B250788123456")
        assert.deepStrictEqual([sms.at("meta", "total"), sms.at("data", 0, "text")], [1, `Hi ${mine.accountId}`])
        assert.strictEqual((yield* list(mine.test, "?to=nobody")).at("meta", "total"), 0)
        const first = yield* list(mine.test, "?per_page=1")
        const next = yield* list(mine.test, `?per_page=1&cursor=${String(first.at("meta", "next_cursor"))}`)
        assert.notStrictEqual(first.at("data", 0, "id"), next.at("data", 0, "id"))
        assert.isNull(next.at("meta", "next_cursor"))
        assert.strictEqual((yield* list(mine.live)).at("error", "type"), "test_key_required")
        assert.strictEqual((yield* list(mine.test, "?wait=61")).status, 422)

        yield* eventually(list(theirs.test), ({ at }) => at("meta", "total") === 2)
        yield* reaching(
          `/v1/sms/messages/${
            String((yield* node.request("GET", "/v1/sms/messages", { key: mine.test })).at("data", 0, "id"))
          }`,
          mine.test,
          ["delivered"]
        )
        const cleared = yield* eventually(
          Effect.andThen(node.request("DELETE", "/v1/sandbox/messages", { key: mine.test }), list(mine.test)),
          ({ at }) => at("meta", "total") === 0
        )
        assert.deepStrictEqual(cleared.at("data"), [])
        assert.strictEqual((yield* list(theirs.test)).at("meta", "total"), 2)
      }))

    it.effect("a page has the files of its first large mails, and the texts and names of files of the later ones", () =>
      Effect.gen(function*() {
        const { node } = yield* Production
        const { test } = yield* makePair()
        const size = 2_900_000
        const file = { filename: "a.bin", content: Buffer.alloc(size, "a").toString("base64") }
        for (const subject of ["1", "2", "3", "4"]) {
          const json = { to: "ada@example.com", subject, text: `Text ${subject}`, attachments: [file] }
          const { at, status, text } = yield* node.request("POST", "/v1/email/send", { key: test, json })
          assert.strictEqual(status, 202, text)
          yield* reaching(`/v1/email/messages/${String(at("data", "id"))}`, test, ["sent"])
        }
        const { at } = yield* node.request("GET", "/v1/sandbox/messages", { key: test })
        const mails = [0, 1, 2, 3].map((index) => Object(at("data", index)))
        assert.deepStrictEqual(mails.map(({ subject, text }) => [subject, text.trim()]), [
          ["4", "Text 4"],
          ["3", "Text 3"],
          ["2", "Text 2"],
          ["1", "Text 1"]
        ])
        const files = mails.map(({ attachments: [{ content, name, size }] }) => [name, size, content === file.content])
        assert.deepStrictEqual(files, [
          ["a.bin", size, true],
          ["a.bin", size, true],
          ["a.bin", 0, false],
          ["a.bin", 0, false]
        ])
        assert.isNull(mails[2].attachments[0].content)
      }))

    it.effect("a journey with a test key changes no list, usage figure, webhook or metric of the live key", () =>
      Effect.gen(function*() {
        const { metricsPort, node, relay } = yield* Production
        const { accountId, live, test } = yield* makePair()
        const receivers = { live: yield* makeWebhookReceiver(), test: yield* makeWebhookReceiver() }
        for (const [mode, key] of [["live", live], ["test", test]] as const) {
          const json = { url: receivers[mode].url, events: ["*"] }
          const made = yield* node.request("POST", "/v1/webhooks", { key, json })
          assert.strictEqual(made.status, 201, made.text)
        }
        const lists = guarded.filter((endpoint) =>
          endpoint.method === "GET" && !endpoint.path.includes(":") && endpoint.rule.mode === undefined
          // The receiver of the sandbox is closed on this node.
          && !["/v1/api-keys", "/v1/phone/validate", "/v1/sandbox/receiver"].includes(endpoint.path)
        )
        assert.isAtLeast(lists.length, 20)
        const seen = (key: string) =>
          Effect.map(
            Effect.forEach(lists, ({ path }) =>
              Effect.map(node.request("GET", path, { key }), ({ json }) => [path, json] as const)),
            (answers) =>
              Object.fromEntries(answers)
          )
        const measured = Effect.map(
          node.request("GET", "/metrics", { origin: `http://127.0.0.1:${metricsPort}` }),
          ({ text }) =>
            text.split("\n").filter((line) =>
              /^(messages_|queue_length|whatsapp_sessions|webhooks_unhealthy)/.test(line)
            ).toSorted()
        )

        // The list of requests is written after the answers.
        yield* eventually(
          node.request("GET", "/v1/requests", { key: live }),
          ({ text }) => text.includes("/v1/webhooks")
        )
        // The node whose relay was away may have been stopped before it could take back that it said so.
        yield* eventually(
          node.request("GET", "/v1/account/attention", { key: live }),
          ({ text }) => !text.includes("relay_away"),
          longer.turn
        )
        yield* eventually(
          measured,
          (lines) => lines.every((line) => !line.startsWith("queue_length") || line.endsWith(" 0")),
          longer.turn
        )
        const before = { lists: yield* seen(live), metrics: yield* measured, mails: relay.messages.length }
        const to = `zoe-${accountId}@example.com`
        const sends = {
          "/v1/email/send": { to, subject: "Hello", text: "Hello" },
          "/v1/email/send-bulk": { recipients: [to], subject: "Hello", html: "<p>Hello</p>" },
          "/v1/sms/send": { to: "+250788123456", content: "Hello" },
          "/v1/sms/send-bulk": { recipients: ["+250788123456"], content: "Hello" },
          "/v1/verify/send": { to, channel: "email" },
          "/v1/email/templates": { name: "Welcome", subject: "Hello", html: "<p>Hello</p>" },
          "/v1/email/domains": { domain: "news.example" },
          "/v1/email/suppressions": { email: to },
          "/v1/whatsapp/sessions": { name: "Shop" }
        }
        for (const [path, json] of Object.entries(sends)) {
          const { status, text } = yield* node.request("POST", path, { key: test, json })
          assert.include([201, 202], status, text)
        }
        const shown = yield* eventually(
          node.request("GET", "/v1/sandbox/messages", { key: test }),
          ({ at }) => at("meta", "total") === 5
        )
        assert.strictEqual(shown.status, 200)
        yield* eventually(
          Effect.sync(() => receivers.test.requests.map(({ body }) => JSON.parse(body.toString()))),
          (events) =>
            ["email.sent", "email.bulk_completed", "message.delivered", "session.connected"].every((name) =>
              events.some(({ event }) => event === name)
            )
        )
        const events = receivers.test.requests.map(({ body }) => JSON.parse(body.toString()))
        assert.deepStrictEqual([...new Set(events.map(({ mode }) => mode))], ["test"])
        assert.deepStrictEqual(receivers.live.requests, [])
        assert.strictEqual(relay.messages.length, before.mails)
        assert.deepStrictEqual(
          yield* eventually(measured, (lines) => JSON.stringify(lines) === JSON.stringify(before.metrics)),
          before.metrics
        )
        assert.deepStrictEqual(yield* seen(live), before.lists)

        // The same journey with the live key: its webhook alone gets the events.
        yield* node.request("POST", "/v1/email/send", {
          key: live,
          json: { to: `yan-${accountId}@example.com`, subject: "Hello", text: "Hello" }
        })
        const [first] = yield* receivers.live.received(1)
        assert.deepInclude(JSON.parse(String(first?.body)), { event: "email.sent", mode: "live" })
        for (const { body } of receivers.test.requests) assert.notInclude(String(body), `yan-${accountId}`)
      }))

    it.effect("test keys have a quota per day, apart from the plan's", () =>
      Effect.gen(function*() {
        const node = yield* startNode({ env: { TEST_QUOTA_PER_DAY: "2" } })
        const { live, test } = yield* makePair()
        const send = (key: string) =>
          node.request("POST", "/v1/sms/send", { key, json: { to: "+250788123456", content: "Hello" } })
        assert.deepStrictEqual([(yield* send(test)).status, (yield* send(test)).status], [202, 202])
        const refused = yield* send(test)
        assert.strictEqual(refused.status, 402)
        assert.deepInclude(refused.at("error"), { type: "plan_limit_exceeded", limit: 2, current: 2, per: "day" })
        assert.strictEqual((yield* send(live)).status, 202)
        const usage = yield* node.request("GET", "/v1/account/usage", { key: test })
        const sms = Array.from({ length: 3 }, (_, index) => usage.at("data", "quotas", index))
          .find((quota) => Object(quota).resource === "sms")
        assert.deepInclude(sms, { limit: 2, used: 2, remaining: 0 })
      }))
  }
)
