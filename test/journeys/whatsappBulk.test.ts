import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { assertRefused } from "../contract/contract.ts"
import { eventually, makeAccount, type RunningNode, Service, startNode } from "../support/Service.ts"
import { longer } from "../support/waiting.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { pairedSession, WhatsApp } from "../support/WhatsApp.ts"
import { accepted, localFiles, unpaced, untilArrived, untilMessage } from "../support/whatsAppMessages.ts"

const layerOptions = { excludeTestServices: true } as const

const sendBulk = (node: RunningNode, key: string, json: Readonly<Record<string, unknown>>) =>
  node.request("POST", "/v1/whatsapp/send-bulk", { key, json })

const ended = (node: RunningNode, key: string, batch: string) =>
  eventually(
    node.request("GET", `/v1/whatsapp/batches/${batch}`, { key }),
    ({ at }) => at("data", "queued") === 0,
    longer.load
  )

layer(WhatsApp.layer({ env: { ...unpaced, ...localFiles } }), layerOptions)("bulk WhatsApp messages", (it) => {
  it.effect("a batch is sent again to the recipients whose message failed, with their own texts and its pause, and only once", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const sql = yield* SqlClient.SqlClient
      const { phone } = yield* WhatsApp
      const { key } = yield* makeAccount()
      const session = yield* pairedSession(node, key)
      const [ann, bob] = [yield* phone, yield* phone]
      const answer = yield* sendBulk(node, key, {
        session_id: session.id,
        recipients: [{ to: `+${ann}`, variables: { name: "Ann" } }, bob],
        content: { body: "Hello {{name|you}}" },
        delay_ms: 20
      })
      const batch = String(answer.at("data", "batch_id"))
      yield* ended(node, key, batch)
      yield* sql`update messages set status = 'failed' where batch_id = ${batch} and recipient = ${`+${ann}`}`
      const resend = node.request("POST", `/v1/whatsapp/batches/${batch}/resend`, { key })
      const [first, second] = yield* Effect.all([resend, resend], { concurrency: 2 })
      assert.strictEqual(first.status, 202, first.text)
      assert.strictEqual(first.at("data", "batch_id"), second.at("data", "batch_id"))
      assert.strictEqual(first.at("data", "total"), 1)
      const next = String(first.at("data", "batch_id"))
      assert.deepStrictEqual(
        yield* sql`select o.delay_ms from messages m join whatsapp_outbox o on o.message_id = m.id
          where m.batch_id = ${next}`,
        [{ delay_ms: 20 }]
      )
      const texts = (yield* untilArrived(ann, session.number, 2)).map(({ text }) => text)
      assert.deepStrictEqual(texts, ["Hello Ann", "Hello Ann"])
      assert.strictEqual((yield* untilArrived(bob, session.number, 1)).length, 1)
    }))

  it.effect("each recipient gets the text with their own values, and the batch counts sent and failed messages", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { phone } = yield* WhatsApp
      const { key } = yield* makeAccount()
      const session = yield* pairedSession(node, key)
      const [ann, bob] = [yield* phone, yield* phone]
      const answer = yield* sendBulk(node, key, {
        session_id: session.id,
        recipients: [{ to: `+${ann}`, variables: { name: "Ann" } }, bob, "+442079460000"],
        content: { body: "Hello {{name|you}}" }
      })
      assert.strictEqual(answer.status, 202, answer.text)
      const batch = String(answer.at("data", "batch_id"))
      assert.deepInclude(answer.at("data"), { total_recipients: 3, status: "queued" })
      assert.strictEqual(answer.headers["location"], `/v1/whatsapp/batches/${batch}`)
      const { at } = yield* ended(node, key, batch)
      assert.deepInclude(at("data"), { status: "completed", total: 3, queued: 0, sent: 2, failed: 1, suppressed: 0 })
      assert.isString(at("data", "completed_at"))
      const batches = yield* node.request("GET", "/v1/whatsapp/batches?status=completed", { key })
      assert.deepStrictEqual([batches.at("meta", "total"), batches.at("data", 0)], [1, at("data")])
      assert.strictEqual((yield* untilArrived(ann, session.number, 1))[0]?.text, "Hello Ann")
      assert.strictEqual((yield* untilArrived(bob, session.number, 1))[0]?.text, "Hello you")
      const list = yield* node.request("GET", `/v1/whatsapp/messages?batch_id=${batch}&status=failed`, { key })
      assert.deepStrictEqual([list.at("meta", "total"), list.at("data", 0, "to")], [1, "+442079460000"])
      const oldest = yield* node.request("GET", "/v1/whatsapp/messages?sort=created_at", { key })
      assert.deepStrictEqual([0, 1, 2].map((index) => oldest.at("data", index, "to")), [
        `+${ann}`,
        `+${bob}`,
        "+442079460000"
      ])
      for (const to of [`%2B${ann}`, `+${ann}`, ann, `%20${ann}`, `%2B${ann.slice(0, 3)}%20${ann.slice(3)}`]) {
        const { at } = yield* node.request("GET", `/v1/whatsapp/messages?to=${to}`, { key })
        assert.deepStrictEqual([at("meta", "total"), at("data", 0, "to")], [1, `+${ann}`], to)
      }
      for (const to of ["bad", "12", "", "1@lid", "1@g.us"]) {
        const refused = yield* node.request("GET", `/v1/whatsapp/messages?to=${to}`, { key })
        assertRefused(refused, 422, "validation_error")
        assert.strictEqual(refused.at("error", "param"), "to")
      }
      const wrong = [
        ["session_id=abc", "session_id: must be a whole number from 1 on"],
        ["batch_id=x", "batch_id: must be the id of a batch, such as sms_batch_01"]
      ] as const
      for (const [query, says] of wrong) {
        const refused = yield* node.request("GET", `/v1/whatsapp/messages?${query}`, { key })
        assertRefused(refused, 422, "validation_error")
        assert.include(refused.text, says)
      }
      for (const which of ["batches", "messages"]) {
        assertRefused(yield* node.request("GET", `/v1/whatsapp/${which}?sort=to`, { key }), 422, "validation_error")
      }
    }))

  it.effect("a batch sends to several chats in parallel and keeps the order within each chat", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { phone } = yield* WhatsApp
      const { key } = yield* makeAccount()
      const session = yield* pairedSession(node, key)
      const people = [yield* phone, yield* phone, yield* phone]
      const recipients = Array.from({ length: 60 }, (_, n) => ({ to: people[n % 3], variables: { n } }))
      const answer = yield* sendBulk(node, key, { session_id: session.id, recipients, content: { body: "{{n}}" } })
      const { at } = yield* ended(node, key, String(answer.at("data", "batch_id")))
      assert.deepInclude(at("data"), { sent: 60, failed: 0 })
      for (const [index, to] of people.entries()) {
        const texts = (yield* untilArrived(to, session.number, 20)).map(({ text }) => text)
        assert.deepStrictEqual(texts, Array.from({ length: 20 }, (_, n) => String(3 * n + index)))
      }
    }))

  it.effect("a batch sends one image to many recipients, each with their own caption, and not again without its file", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { phone, simulator } = yield* WhatsApp
      const { key } = yield* makeAccount()
      const session = yield* pairedSession(node, key)
      const people = [yield* phone, yield* phone]
      const base64 = Buffer.from("GIF89a a picture").toString("base64")
      const answer = yield* sendBulk(node, key, {
        session_id: session.id,
        type: "image",
        recipients: people.map((to, index) => ({ to, variables: { n: index } })),
        content: { base64, caption: "{{n}}" }
      })
      const batch = String(answer.at("data", "batch_id"))
      yield* ended(node, key, batch)
      for (const [index, to] of people.entries()) {
        const [message] = yield* untilArrived(to, session.number, 1)
        assert.strictEqual(message?.text, String(index))
        const file = yield* Effect.promise(() => simulator.controls.media(to, message?.id ?? ""))
        assert.strictEqual(file.base64, base64)
      }
      const sql = yield* SqlClient.SqlClient
      yield* sql`update messages set status = 'failed' where batch_id = ${batch}`
      const refused = yield* node.request("POST", `/v1/whatsapp/batches/${batch}/resend`, { key })
      assertRefused(refused, 422, "validation_error")
      assert.include(refused.text, "no longer kept")
    }))

  it.effect("a batch fetches the file of its URL once for all recipients, and again after a failed fetch", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { phone, simulator } = yield* WhatsApp
      const { key } = yield* makeAccount()
      const session = yield* pairedSession(node, key)
      const bytes = Buffer.from("GIF89a a picture")
      const receiver = yield* makeWebhookReceiver({
        script: (_, index) => ({
          status: index === 0 ? 500 : 200,
          headers: { "content-type": "image/gif" },
          body: bytes
        })
      })
      const people = yield* Effect.forEach(Array.from({ length: 20 }), () => phone)
      const answer = yield* sendBulk(node, key, {
        session_id: session.id,
        type: "image",
        recipients: people.map((to, n) => ({ to, variables: { n } })),
        content: { url: `${receiver.url}/picture`, caption: "{{n}}" }
      })
      const { at } = yield* ended(node, key, String(answer.at("data", "batch_id")))
      const { failed, sent } = at("data") as { readonly failed: number; readonly sent: number }
      assert.strictEqual(sent + failed, 20)
      // Recipients that waited for the failed fetch fail with it.
      assert.isAtMost(failed, 3)
      assert.strictEqual(receiver.requests.length, 2)
      const captions = new Set<string | null | undefined>()
      for (const to of people) {
        const [message] = simulator.controls.messages(to)
        if (message === undefined) continue
        captions.add(message.text)
        assert.strictEqual(message.text, String(people.indexOf(to)))
        const file = yield* Effect.promise(() => simulator.controls.media(to, message.id))
        assert.deepStrictEqual(file, { mimetype: "image/gif", base64: bytes.toString("base64") })
      }
      assert.strictEqual(captions.size, sent)
    }))

  it.effect("an invalid batch is refused whole with the reason", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const session = yield* pairedSession(node, key)
      const good = { session_id: session.id, recipients: ["+15550100200"], content: "Hello" }
      const wrong: ReadonlyArray<readonly [body: Record<string, unknown>, param: string]> = [
        [{ recipients: [] }, "recipients"],
        [{ recipients: Array.from({ length: 501 }, () => "+15550100200") }, "recipients"],
        [{ recipients: ["+15550100200", "nobody"] }, "recipients[1].to"],
        [{ content: "Hello {{name}}" }, "recipients[0].variables"],
        [{ content: "Hello {{name" }, "content.body"],
        [
          { content: "{{a}}", recipients: [{ to: "+15550100200", variables: { a: "x".repeat(4_097) } }] },
          "recipients[0].variables"
        ],
        [{ content: "{{a}}", recipients: [{ to: "+15550100200", variables: { a: " " } }] }, "recipients[0].variables"],
        [{ delay_ms: -1 }, "delay_ms"]
      ]
      for (const [body, param] of wrong) {
        const answer = yield* sendBulk(node, key, { ...good, ...body })
        assertRefused(answer, 422, "validation_error")
        assert.strictEqual(answer.at("error", "param"), param, answer.text)
      }
      const list = yield* node.request("GET", "/v1/whatsapp/messages", { key })
      assert.strictEqual(list.at("meta", "total"), 0)
    }))
})

layer(WhatsApp.layer({ env: { WHATSAPP_PAUSE_MIN_MS: "200", WHATSAPP_PAUSE_MAX_MS: "300" } }), layerOptions)(
  "pace of a session",
  (it) => {
    it.effect("a session pauses between messages and sends a single message before a batch, also after a restart", () =>
      Effect.gen(function*() {
        const first = yield* Service
        const { env, phone } = yield* WhatsApp
        const { key } = yield* makeAccount()
        const session = yield* pairedSession(first, key)
        const people = yield* Effect.forEach(Array.from({ length: 30 }), () => phone)
        const answer = yield* sendBulk(first, key, { session_id: session.id, recipients: people, content: "bulk" })
        yield* untilArrived(people[0] ?? "", session.number, 1)
        const single = yield* phone
        const id = yield* accepted(first, key, { session_id: session.id, to: single, content: "now" })
        yield* untilMessage(first, key, id, "read")
        const batch = String(answer.at("data", "batch_id"))
        const before = yield* first.request("GET", `/v1/whatsapp/batches/${batch}`, { key })
        assert.isAtLeast(Number(before.at("data", "queued")), 1)
        assert.strictEqual(before.at("data", "status"), "processing")
        const second = yield* startNode({ env: { ...env, WHATSAPP_PAUSE_MIN_MS: "200", WHATSAPP_PAUSE_MAX_MS: "300" } })
        yield* first.stop()
        const { at } = yield* ended(second, key, batch)
        assert.deepInclude(at("data"), { status: "completed", sent: 30 })
        for (const to of [...people, single]) assert.lengthOf(yield* untilArrived(to, session.number, 1), 1)
        const sql = yield* SqlClient.SqlClient
        // A message unacknowledged at the restart is sent again without a pause.
        const [pauses] = yield* sql`select count(gap)::int as counted, min(gap)::float8 as shortest from (
            select extract(epoch from written_at - lag(written_at) over (order by written_at)) * 1000 as gap
            from whatsapp_outbox where session_id = ${session.id} and attempt_count = 1
          ) gaps`
        assert.isAtLeast(Number(pauses?.["counted"]), 6)
        // Minus a millisecond, because the node's clock counts whole milliseconds.
        assert.isAtLeast(Number(pauses?.["shortest"]), 199)
      }))
  }
)
