/** Timelines of messages that a relay, a carrier and WhatsApp answer, with reports and webhooks. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { eventually, makeAccount, type RunningNode, Service, startNode } from "../support/Service.ts"
import { makeListener, sendEmail } from "../support/singleMail.ts"
import { freshNumber, sendSms } from "../support/sms.ts"
import { makeSmsc, receiptText } from "../support/Smsc.ts"
import * as SmtpSink from "../support/SmtpSink.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { pairedSession, WhatsApp } from "../support/WhatsApp.ts"
import { accepted, unpaced } from "../support/whatsAppMessages.ts"

interface Entry {
  readonly at: string
  readonly kind: string
  readonly detail: Readonly<Record<string, unknown>>
}

/** The entries of a message, once they fulfil the condition. */
const told = (node: RunningNode, key: string, path: string, isTold: (entries: ReadonlyArray<Entry>) => boolean) => {
  const read = Effect.map(
    node.request("GET", `${path}/timeline`, { key }),
    ({ at }) => (at("data") ?? []) as ReadonlyArray<Entry> // a list, by the contract
  )
  return eventually(read, isTold)
}

const ofKind = (entries: ReadonlyArray<Entry>, kind: string) => entries.filter((entry) => entry.kind === kind)

const details = (entries: ReadonlyArray<Entry>, kind: string) => ofKind(entries, kind).map(({ detail }) => detail)

const hasStatus = (status: string) => (entries: ReadonlyArray<Entry>) =>
  entries.some(({ detail, kind }) => kind === "status" && detail["status"] === status)

layer(Layer.mergeAll(TestDatabase.layer, WhatsApp.simulated), { excludeTestServices: true })(
  "timelines of messages to real peers",
  (it) => {
    it.effect("an email that the relay deferred has both replies, the next time, and its events with their deliveries", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const sink = yield* SmtpSink.make({ script: SmtpSink.localPartScript })
        const node = yield* startNode({ smtpPort: sink.port })
        const { key, received } = yield* makeListener(node, ["email.*"])
        const to = "defer@people.example"
        const id = yield* sendEmail(node, key, { to, subject: "Hello", text: "Hello" })
        const path = `/v1/email/messages/${id}`
        const waiting = yield* told(node, key, path, (entries) => ofKind(entries, "deferred").length === 1)
        const first = ofKind(waiting, "attempt")[0]
        assert.deepInclude(first?.detail, { attempt: 1, outcome: "deferred", to, peer: "127.0.0.1" })
        assert.match(String(first?.detail["reply"]), /^450 4\.2\.1 try again later/)
        const [deferred] = details(waiting, "deferred")
        assert.isAbove(Date.parse(String(deferred?.["next_at"])), Date.parse(first?.at ?? ""))
        yield* sql`update email_messages set due_at = now() where id = ${id}`
        const entries = yield* told(
          node,
          key,
          path,
          (all) =>
            hasStatus("sent")(all) &&
            details(all, "delivery").filter((one) => one["response_code"] !== null).length === 2
        )
        const second = details(entries, "attempt")[1]
        assert.deepInclude(second, { attempt: 2, outcome: "accepted", to, peer: "127.0.0.1" })
        assert.match(String(second?.["reply"]), /^250 /)
        for (const { duration_ms } of details(entries, "attempt")) assert.isAtLeast(Number(duration_ms), 0)
        const events = (yield* received(2)).map(({ event, id }) => ({ id, event }))
        assert.deepStrictEqual(events.map(({ event }) => event), ["email.delivery_delayed", "email.sent"])
        assert.deepStrictEqual(details(entries, "event"), events)
        assert.deepStrictEqual(
          details(entries, "delivery").map(({ attempts, event_id, response_code, status }) => [
            event_id,
            status,
            attempts,
            response_code
          ]),
          events.map((event) => [event.id, "delivered", 1, 200])
        )
      }))

    it.effect("an SMS that the carrier deferred has its statuses, the next time, the carrier's id and the receipt", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const smsc = yield* makeSmsc((_, index) =>
          index === 0 ? { status: 0x08 } : { id: "4711", receipts: [receiptText("4711")] }
        )
        const node = yield* startNode({ env: { SMS_PROVIDER: "smpp", SMPP_URL: smsc.url } })
        const { key } = yield* makeAccount()
        const id = yield* sendSms(node, key, { to: freshNumber(), content: "Hello" })
        const path = `/v1/sms/messages/${id}`
        const waiting = yield* told(node, key, path, (entries) => ofKind(entries, "deferred").length === 1)
        const [first] = details(waiting, "attempt")
        assert.deepInclude(first, { attempt: 1, outcome: "deferred", part: 1, peer: "smpp" })
        assert.match(String(first?.["reply"]), /^smpp_0x00000008: .*status 0x00000008/)
        assert.isString(details(waiting, "deferred")[0]?.["next_at"])
        yield* sql`update sms_parts set due_at = now() where message_id = ${id}`
        const entries = yield* told(node, key, path, hasStatus("delivered"))
        assert.deepInclude(details(entries, "attempt")[1], {
          attempt: 2,
          outcome: "accepted",
          peer: "smpp",
          reply: "4711"
        })
        assert.deepStrictEqual(
          details(entries, "status").map(({ source, status }) => [status, source]),
          [["sent", "provider"], ["delivered", "receipt"]]
        )
        for (const { duration_ms } of details(entries, "attempt")) assert.isAtLeast(Number(duration_ms), 0)
      }))

    it.effect("a WhatsApp message has its acknowledgement and its receipts, and one to a number without WhatsApp the refusal", () =>
      Effect.gen(function*() {
        const { env, phone } = yield* WhatsApp
        const node = yield* startNode({ env: { ...env, ...unpaced } })
        const { key } = yield* makeAccount()
        const session = yield* pairedSession(node, key)
        const send = (to: string) =>
          accepted(node, key, { session_id: session.id, to, type: "text", content: { body: "Hello" } })
        const path = `/v1/whatsapp/messages/${yield* send(`+${yield* phone}`)}`
        const entries = yield* told(node, key, path, hasStatus("read"))
        const [attempt] = details(entries, "attempt")
        assert.deepInclude(attempt, { attempt: 1, outcome: "accepted", peer: "whatsapp", reply: "acknowledged" })
        assert.isAtLeast(Number(attempt?.["duration_ms"]), 0)
        assert.deepStrictEqual(
          details(entries, "status").map(({ source, status }) => [status, source]),
          [["sent", "whatsapp"], ["delivered", "whatsapp"], ["read", "whatsapp"]]
        )
        const refused = yield* told(
          node,
          key,
          `/v1/whatsapp/messages/${yield* send(freshNumber())}`,
          hasStatus("failed")
        )
        assert.deepInclude(details(refused, "attempt")[0], { outcome: "refused", peer: "whatsapp" })
        assert.match(String(details(refused, "status")[0]?.["error"]), /WhatsApp/)
      }))
  }
)

layer(Service.layer(), { excludeTestServices: true })("timelines of messages with reports", (it) => {
  it.effect("a delivery, a bounce that came later and a complaint are said by reports", () =>
    Effect.gen(function*() {
      const node = yield* Service
      const { key } = yield* makeAccount()
      const ends = { delivered: "delivered", latebounce: "bounced", complain: "complained" }
      for (const [name, status] of Object.entries(ends)) {
        const to = `${name}@example.com`
        const id = yield* sendEmail(node, key, { to, subject: "Hello", text: "Hello" })
        const entries = yield* told(node, key, `/v1/email/messages/${id}`, hasStatus(status))
        assert.deepStrictEqual(
          details(entries, "status").map(({ source, status, to }) => [status, source, to]),
          [["sent", "relay", to], [status, "report", to]]
        )
      }
    }))
})
