import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { assertRefused } from "../contract/contract.ts"
import { inTime } from "../faults/inTime.ts"
import { sendBulk } from "../support/bulkMail.ts"
import { eventually, makeAccount, type RunningNode, Service, startNode } from "../support/Service.ts"
import { freshNumber, sendSms } from "../support/sms.ts"
import { makeSmsc } from "../support/Smsc.ts"
import * as SmtpSink from "../support/SmtpSink.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"
import { pairedSession, WhatsApp } from "../support/WhatsApp.ts"
import { accepted, untilArrived } from "../support/whatsAppMessages.ts"

/** Seconds until the counts of a canceled batch no longer change. */
const longest = 1

/** Waits until a canceled batch has ended, and checks its counts. */
const final = Effect.fnUntraced(function*(node: RunningNode, key: string, path: string) {
  const begun = performance.now()
  const { at } = yield* eventually(
    node.request("GET", path, { key }),
    ({ at }) => typeof at("data", "completed_at") === "string"
  )
  assert.isBelow(performance.now() - begun, 1_000 * inTime(longest))
  const { canceled, sent, status, total } = Object(at("data")) as Record<string, unknown>
  assert.strictEqual(status, "canceled")
  assert.strictEqual(Number(sent) + Number(canceled), total)
  return { sent: Number(sent), canceled: Number(canceled), data: at("data") }
})

const numbers = (count: number) => Array.from({ length: count }, freshNumber)

layer(TestDatabase.layer, { excludeTestServices: true })("the cancel of a batch", (it) => {
  it.effect("reaches the recipients of an email batch that another node has claimed, and no mail begins after its answer", () =>
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make({ script: () => ({ at: "never", delayMillis: 40, rcptMillis: 40 }) })
      const options = { smtpPort: sink.port, env: { LOG_LEVEL: "debug" } }
      const nodes = yield* Effect.all([startNode(options), startNode(options)], { concurrency: 2 })
      const { key } = yield* makeAccount()
      for (const headers of [{}, { "idempotency-key": "cancel-1" }]) {
        const before = { attempts: sink.attempts.size, messages: sink.messages.length }
        const recipients = Array.from({ length: 300 }, (_, n) => `${before.attempts}-${n}@people.example`)
        const batch = yield* sendBulk(nodes[0], key, { subject: "Hello", html: "Hello", recipients })
        yield* sink.until(({ attempts }) => attempts.size - before.attempts >= 20)
        // A batch may move to the node that joined last, so its owner is the node that began it last.
        const began = (node: RunningNode) =>
          /"timestamp":"([^"]+)"/.exec(
            node.logs.findLast((line) => line.includes(batch) && line.includes("sending a batch on this node")) ?? ""
          )?.[1] ?? ""
        const other = began(nodes[0]) < began(nodes[1]) ? nodes[0] : nodes[1]
        const path = `/v1/email/batches/${batch}`
        const answer = yield* other.request("POST", `${path}/cancel`, { key, headers })
        assert.strictEqual(answer.status, 200, answer.text)
        // What the node wrote before has arrived with this answer at the latest.
        yield* other.request("GET", path, { key })
        const begun = sink.attempts.size
        const { data, sent } = yield* final(other, key, path)
        assert.deepStrictEqual([sink.attempts.size, sink.messages.length - before.messages], [begun, sent])
        assert.deepStrictEqual((yield* nodes[0].request("POST", `${path}/cancel`, { key })).at("data"), data)
      }
    }))

  it.effect("reaches the parts that wait for the carrier's rate, and no message begins after its answer", () =>
    Effect.gen(function*() {
      const smsc = yield* makeSmsc(() => ({ afterMillis: 40 }))
      const options = { env: { LOG_LEVEL: "debug", SMS_PROVIDER: "smpp", SMPP_URL: smsc.url } }
      const nodes = yield* Effect.all([startNode(options), startNode(options)], { concurrency: 2 })
      yield* eventually(Effect.sync(smsc.bound), (bound) => bound === 1, longer.takeover)
      const hasBind = (node: RunningNode) => node.logs.some((line) => line.includes(`"bind":"smpp"`))
      const other = nodes.find((node) => !hasBind(node)) ?? nodes[0]
      const { key } = yield* makeAccount()
      // Half of the messages have two parts.
      const text = (n: number) => "x".repeat(n % 2 === 0 ? 10 : 200)
      const recipients = numbers(300).map((to, n) => ({ to, variables: { text: text(n) } }))
      const json = { content: "{{text}}", recipients }
      const sent = yield* nodes[0].request("POST", "/v1/sms/send-bulk", { key, json })
      assert.strictEqual(sent.status, 202, sent.text)
      yield* smsc.until(({ submits }) => submits.length >= 20)
      const path = `/v1/sms/batches/${String(sent.at("data", "batch_id"))}`
      const answer = yield* other.request("POST", `${path}/cancel`, { key })
      assert.strictEqual(answer.status, 200, answer.text)
      yield* other.request("GET", path, { key })
      const submitted = () => new Set(smsc.submits.map(({ to }) => to)).size
      const begun = submitted()
      const counts = yield* final(other, key, path)
      assert.deepStrictEqual([submitted(), counts.sent], [begun, begun])
      assert.isAbove(counts.canceled, 100)
      // A message that has begun is complete.
      const parts = Map.groupBy(smsc.submits, ({ to }) => to).values()
      assert.isTrue([...parts].every((own) => own.length === (own[0]?.joined?.[1] ?? 1)))
      const canceled = yield* other.request("GET", "/v1/sms/messages?status=canceled&per_page=1", { key })
      assert.strictEqual(canceled.at("meta", "total"), counts.canceled)
      assert.deepStrictEqual((yield* nodes[0].request("POST", `${path}/cancel`, { key })).at("data"), counts.data)
      const foreign = yield* makeAccount()
      assert.strictEqual((yield* other.request("POST", `${path}/cancel`, { key: foreign.key })).status, 404)
      // The worker goes on with other messages.
      const to = freshNumber()
      yield* sendSms(other, key, { to, content: "Hello" })
      yield* smsc.until(({ submits }) => submits.some((submit) => `+${submit.to}` === to))
    }))
})

layer(TestDatabase.layer, { excludeTestServices: true })("the cancel of one SMS", (it) => {
  it.effect("takes back what waits for the carrier's rate, through another node than the bind's", () =>
    Effect.gen(function*() {
      const smsc = yield* makeSmsc()
      const env = { SMS_PROVIDER: "smpp", SMPP_URL: smsc.url, SMPP_MAX_PER_SECOND: "1" }
      const nodes = yield* Effect.all([startNode({ env }), startNode({ env })], { concurrency: 2 })
      yield* eventually(Effect.sync(smsc.bound), (bound) => bound === 1, longer.takeover)
      const other = nodes.find((node) => !node.logs.some((line) => line.includes(`"bind":"smpp"`))) ?? nodes[0]
      const { key } = yield* makeAccount()
      yield* Effect.forEach(numbers(12), (to) => sendSms(other, key, { to, content: "Hello" }))
      const to = freshNumber()
      const id = yield* sendSms(other, key, { to, content: "Hello" })
      const sql = yield* SqlClient.SqlClient
      yield* eventually(
        sql`select status from sms_parts where message_id = ${id}`,
        ([part]) => part?.["status"] === "sending"
      )
      const headers = { "idempotency-key": "cancel-1" }
      const answer = yield* other.request("POST", `/v1/sms/messages/${id}/cancel`, { key, headers })
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(answer.at("data", "status"), "canceled")
      const repeated = yield* other.request("POST", `/v1/sms/messages/${id}/cancel`, { key, headers })
      assert.deepStrictEqual([repeated.status, repeated.text], [200, answer.text])
      const again = yield* other.request("POST", `/v1/sms/messages/${id}/cancel`, { key })
      assertRefused(again, 409, "message_over")
      yield* smsc.until(({ submits }) => submits.length === 12, longer.turn)
      assert.isFalse(smsc.submits.some((submit) => `+${submit.to}` === to))
    }))
})

layer(WhatsApp.layer(), { excludeTestServices: true })(
  "the cancel of a WhatsApp batch",
  (it) => {
    it.effect("stops what is not written yet, through another node than the session's, and the session goes on", () =>
      Effect.gen(function*() {
        const node = yield* Service
        const { env, phone } = yield* WhatsApp
        const { key } = yield* makeAccount()
        const session = yield* pairedSession(node, key)
        const other = yield* startNode({ env })
        const to = yield* phone
        const json = {
          session_id: session.id,
          recipients: Array.from({ length: 40 }, (_, n) => ({ to, variables: { n } })),
          content: { body: "{{n}}" }
        }
        const sent = yield* node.request("POST", "/v1/whatsapp/send-bulk", { key, json })
        assert.strictEqual(sent.status, 202, sent.text)
        yield* untilArrived(to, session.number, 2)
        const path = `/v1/whatsapp/batches/${String(sent.at("data", "batch_id"))}`
        const answer = yield* other.request("POST", `${path}/cancel`, { key })
        assert.strictEqual(answer.status, 200, answer.text)
        const counts = yield* final(other, key, path)
        assert.isAbove(counts.canceled, 0)
        assert.deepStrictEqual((yield* node.request("POST", `${path}/cancel`, { key })).at("data"), counts.data)
        yield* accepted(node, key, { session_id: session.id, to, type: "text", content: { body: "after" } })
        const arrived = yield* untilArrived(to, session.number, counts.sent + 1)
        assert.deepStrictEqual([arrived.length, arrived.at(-1)?.text], [counts.sent + 1, "after"])
        const foreign = yield* makeAccount()
        assert.strictEqual((yield* other.request("POST", `${path}/cancel`, { key: foreign.key })).status, 404)
      }))
  }
)
