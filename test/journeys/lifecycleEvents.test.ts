import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { connectedSession } from "../contract/samples.ts"
import { asking, ended, sendBulk } from "../support/bulkMail.ts"
import { makeAccount, type NodeOptions, type RunningNode, startNode } from "../support/Service.ts"
import { type SignedEvent, signedEvent } from "../support/signedEvent.ts"
import * as SmtpSink from "../support/SmtpSink.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { create, deliveriesOf, hasten } from "../support/webhookStories.ts"

/** A node with an account whose webhook subscribes to these events. */
const subscribed = Effect.fnUntraced(function*(events: ReadonlyArray<string>, options: NodeOptions = {}) {
  const node = yield* startNode(options)
  const account = yield* makeAccount()
  const receiver = yield* makeWebhookReceiver()
  const { id, secret } = yield* create(node, account.key, { url: receiver.url, events })
  const received = Effect.fnUntraced(function*(count: number, within?: `${number} seconds`) {
    const requests = yield* receiver.received(count, within)
    return requests.map((request): SignedEvent => signedEvent(request, secret))
  })
  return { node, ...account, webhook: id, received, receiver }
})

const send = (node: RunningNode, key: string, json: object) =>
  node.request("POST", "/v1/email/send", { key, json: { subject: "Hello", text: "Hello", ...json } })

/** The relay never confirms `lost`, and refuses `defer` at first. */
const script: SmtpSink.SinkScript = (recipient, attempt) =>
  recipient.startsWith("lost") ? { at: "afterDot" } : SmtpSink.localPartScript(recipient, attempt)

layer(TestDatabase.layer, { excludeTestServices: true })("lifecycle events", (it) => {
  it.effect("email.delivery_delayed comes with each attempt that failed for now, and email.failed with the end", () =>
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make({ script })
      const sql = yield* SqlClient.SqlClient
      const { key, node, received } = yield* subscribed(["email.delivery_delayed", "email.failed", "email.sent"], {
        smtpPort: sink.port
      })
      const labels = { tags: ["receipt"], metadata: { order: "A-17" } }
      const sent = yield* send(node, key, { to: "lost@people.example", ...labels })
      const [delayed] = yield* received(1)
      assert.strictEqual(delayed?.event, "email.delivery_delayed")
      const email = {
        id: sent.at("data", "id"),
        batch_id: null,
        to: "lost@people.example",
        subject: "Hello",
        ...labels
      }
      assert.deepInclude(delayed?.data, { ...email, attempt: 1 })
      assert.isAbove(
        Date.parse(String(delayed?.data["next_attempt_at"])),
        Date.parse(String(delayed?.data["delayed_at"]))
      )
      const retryNow = sql`update email_messages set due_at = now() where status = 'queued'`
      yield* retryNow
      const [, failed] = yield* received(2)
      assert.strictEqual(failed?.event, "email.failed")
      assert.deepInclude(failed?.data, email)
      assert.match(String(failed?.data["error"]), /did not confirm/)
      const batch = yield* sendBulk(node, key, { subject: "s", html: "h", recipients: ["defer@people.example"] })
      const [, , deferred] = yield* received(3)
      assert.deepInclude(deferred?.data, { batch_id: batch, to: "defer@people.example", attempt: 1 })
      assert.match(String(deferred?.data["error"]), /^450 4\.2\.1/)
      yield* retryNow
      const all = yield* received(4)
      assert.deepStrictEqual(all.map(({ event }) => event), [
        "email.delivery_delayed",
        "email.failed",
        "email.delivery_delayed",
        "email.sent"
      ])
    }))

  it.effect("email.suppressed names each suppressed recipient of an email and of a batch", () =>
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make({ script })
      const { key, node, received } = yield* subscribed(["email.suppressed"], { smtpPort: sink.port })
      yield* node.request("POST", "/v1/email/suppressions", { key, json: { email: "gone@people.example" } })
      const single = yield* send(node, key, { to: ["fine@people.example", "Gone@people.example"] })
      const [first] = yield* received(1)
      assert.deepInclude(first?.data, {
        id: single.at("data", "id"),
        batch_id: null,
        to: "Gone@people.example",
        subject: "Hello"
      })
      const recipients = ["gone@people.example", { to: "fine@people.example", variables: {} }]
      const batch = yield* sendBulk(node, key, { subject: "Dear all", html: "h", recipients })
      const [, second, ...more] = yield* received(2)
      assert.deepInclude(second?.data, { batch_id: batch, to: "gone@people.example", subject: "Dear all" })
      assert.property(second?.data, "suppressed_at")
      assert.deepStrictEqual(more, [])
    }))

  it.effect("email.suppressed names an address that is suppressed before its scheduled time", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { key, node, received } = yield* subscribed(["email.suppressed", "email.bulk_completed"])
      const send_at = DateTime.formatIso(DateTime.add(yield* DateTime.now, { hours: 1 }))
      const single = yield* send(node, key, { to: "left@people.example", send_at, tags: ["late"] })
      const bulk = { subject: "Dear {{name|all}}", html: "h", recipients: ["left@people.example"], send_at }
      const batch = yield* sendBulk(node, key, bulk)
      yield* node.request("POST", "/v1/email/suppressions", { key, json: { email: "Left@people.example" } })
      yield* sql`update email_messages set send_at = now() where status = 'scheduled'`
      yield* sql`update email_batches set send_at = now() where status = 'scheduled'`
      const events = yield* received(3)
      const suppressed = events.filter(({ event }) => event === "email.suppressed")
      const ofSingle = suppressed.find(({ data }) => data["batch_id"] === null)
      assert.deepInclude(ofSingle?.data, { id: single.at("data", "id"), subject: "Hello", tags: ["late"] })
      const ofBatch = suppressed.find(({ data }) => data["batch_id"] === batch)
      assert.deepInclude(ofBatch?.data, { to: "left@people.example", subject: "Dear all" })
      const end = events.find(({ event }) => event === "email.bulk_completed")
      assert.deepInclude(end?.data, { batch_id: batch, total: 1, sent: 0, failed: 0, suppressed: 1 })
    }))

  it.effect("email.failed names an email that its nodes have lost at each attempt", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { key, node, received } = yield* subscribed(["email.failed"])
      const send_at = DateTime.formatIso(DateTime.add(yield* DateTime.now, { hours: 1 }))
      const single = yield* send(node, key, { to: "left@people.example", send_at })
      const bulk = { subject: "Dear all", html: "h", recipients: ["left@people.example"], send_at }
      const batch = yield* sendBulk(node, key, bulk)
      // As a node leaves them that dies in its last attempt.
      yield* sql`update email_messages set status = 'sending', attempt_count = 100, due_at = now() - interval '1 hour'
        where status = 'scheduled'`
      yield* sql`update email_batches set status = 'processing', started_at = now() where status = 'scheduled'`
      const events = yield* received(2)
      const [ofSingle, ofBatch] = [null, batch].map((id) => events.find(({ data }) => data["batch_id"] === id))
      const error = "interrupted before the relay had confirmed it"
      assert.deepInclude(ofSingle?.data, { id: single.at("data", "id"), subject: "Hello", error })
      assert.deepInclude(ofBatch?.data, { to: "left@people.example", subject: "Dear all", error })
    }))

  it.effect("email.canceled names each recipient that the cancel of a batch has spared", () =>
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make({ script })
      const { key, node, received } = yield* subscribed(["email.canceled"], { smtpPort: sink.port })
      const recipients = Array.from({ length: 400 }, (_, index) => `slow-${index}@people.example`)
      const batch = yield* sendBulk(node, key, { subject: "s", html: "h", recipients })
      yield* node.request("POST", `/v1/email/batches/${batch}/cancel`, { key })
      const { at } = yield* ended(node, key, batch)
      const canceled = Number(at("data", "canceled"))
      assert.isAbove(canceled, 0)
      const events = yield* received(canceled, longer.load)
      const listed = yield* node.request("GET", `/v1/email/batches/${batch}/recipients?status=canceled&per_page=1`, {
        key
      })
      assert.strictEqual(new Set(events.map(({ data }) => data["to"])).size, listed.at("meta", "total"))
      assert.isTrue(events.every(({ data, event }) => event === "email.canceled" && data["batch_id"] === batch))
    }))

  it.effect("message.queued and message.canceled come for SMS and WhatsApp, with their channel and labels", () =>
    Effect.gen(function*() {
      // No carrier answers at this address, so the messages stay queued.
      const env = { SMS_PROVIDER: "smpp", SMPP_URL: "smpp://user:secret@127.0.0.1:9" }
      const { key, node, received } = yield* subscribed(["message.queued", "message.canceled"], { env })
      const given = { tags: ["booking"], metadata: { order: "A-17" } }
      const content = { content: "Hello", ...given }
      const single = yield* node.request("POST", "/v1/sms/send", { key, json: { to: "+250788123456", ...content } })
      const [queued] = yield* received(1)
      assert.strictEqual(queued?.event, "message.queued")
      assert.deepInclude(queued?.data, {
        channel: "sms",
        message_id: single.at("data", "message_id") ?? single.at("data", "id"),
        to: "+250788123456",
        status: "queued",
        segments: 1,
        ...given
      })
      const sms = { recipients: ["+250788123456", "+250788123457"], ...content }
      const batch = (yield* node.request("POST", "/v1/sms/send-bulk", { key, json: sms })).at("data", "batch_id")
      yield* received(3)
      yield* node.request("POST", `/v1/sms/batches/${String(batch)}/cancel`, { key })
      const afterSms = (yield* received(5)).slice(3)
      assert.deepStrictEqual(afterSms.map(({ event }) => event), ["message.canceled", "message.canceled"])
      assert.deepInclude(afterSms[0]?.data, { channel: "sms", status: "canceled", ...given })

      const session_id = yield* connectedSession(node.request, key)
      const whatsapp = { session_id, recipients: ["+250788123456"], ...content }
      const chats = (yield* node.request("POST", "/v1/whatsapp/send-bulk", { key, json: whatsapp })).at(
        "data",
        "batch_id"
      )
      yield* received(6)
      yield* node.request("POST", `/v1/whatsapp/batches/${String(chats)}/cancel`, { key })
      const all = yield* received(7)
      for (
        const [index, event, status] of [[5, "message.queued", "queued"], [6, "message.canceled", "canceled"]] as const
      ) {
        assert.strictEqual(all[index]?.event, event)
        assert.deepInclude(all[index]?.data, { channel: "whatsapp", session_id, to: "+250788123456", status, ...given })
      }
    }))

  it.effect("webhook.unhealthy goes to the other webhooks of the account only", () =>
    Effect.gen(function*() {
      const sink = yield* SmtpSink.make({ script })
      const { key, node, received } = yield* subscribed(["webhook.*"], {
        smtpPort: sink.port,
        env: { WEBHOOK_UNHEALTHY_FAILURES: "1", WEBHOOK_UNHEALTHY_SECONDS: "0" }
      })
      const broken = yield* makeWebhookReceiver({ script: [500] })
      const { id } = yield* create(node, key, { url: `${broken.url}/in?token=secret`, events: ["*"] })
      const stranger = yield* makeAccount()
      const other = yield* create(node, stranger.key, { url: broken.url, events: ["webhook.unhealthy"] })
      yield* send(node, key, { to: "fine@people.example" })
      yield* asking(
        Effect.andThen(hasten(id), deliveriesOf(node, key, id, "?status=failed")),
        ({ at }) => at("meta", "total") === 1
      )
      const [event] = yield* received(1)
      assert.strictEqual(event?.event, "webhook.unhealthy")
      assert.deepInclude(event?.data, { webhook_id: id, url: `${broken.url}/in`, reason: "failing", failure_count: 1 })
      const own = yield* deliveriesOf(node, key, id, "?event=webhook.unhealthy")
      assert.strictEqual(own.at("meta", "total"), 0)
      assert.strictEqual((yield* deliveriesOf(node, stranger.key, other.id)).at("meta", "total"), 0)
    }))

  it.effect("account.quota_warning and account.quota_reached come once each month and metric", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const first = yield* startNode()
      const receiver = yield* makeWebhookReceiver()
      const warned = yield* makeAccount({ plan: "starter" })
      const reached = yield* makeAccount({ plan: "starter" })
      for (const { key } of [warned, reached]) yield* create(first, key, { url: receiver.url, events: ["account.*"] })
      yield* first.stop()
      for (const [{ accountId }, count] of [[warned, 80], [reached, 100]] as const) {
        yield* sql`insert into usage_daily (account_id, day, metric, slot, count, cost_micros)
          values (${accountId}, (now() at time zone 'UTC')::date, 'sms', 0, ${count}, 0)`
      }
      // The usage is checked when a node starts, and every minute.
      const env = { SMS_QUOTA_STARTER: "100" }
      yield* startNode({ env })
      const events = yield* receiver.received(2, longer.takeover)
      const bodies = events.map(({ body }): SignedEvent => JSON.parse(body.toString("utf8")))
      assert.sameDeepMembers(bodies.map(({ data, event }) => ({ event, data })), [
        { event: "account.quota_warning", data: { metric: "sms", used: 80, limit: 100 } },
        { event: "account.quota_reached", data: { metric: "sms", used: 100, limit: 100 } }
      ])
    }))
})
