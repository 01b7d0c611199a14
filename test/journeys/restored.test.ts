import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { cli } from "../support/cli.ts"
import { Relay } from "../support/Relay.ts"
import { encryptionKey, eventually, makeAccount, Service, startNode } from "../support/Service.ts"
import { reaching, sendEmail } from "../support/singleMail.ts"
import { freshNumber, phoneOf, sendSms } from "../support/sms.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"

/** A paired session with a key, which only the database knows. */
const insertSession = Effect.fnUntraced(function*(accountId: number) {
  const sql = yield* SqlClient.SqlClient
  const [row] =
    yield* sql`insert into whatsapp_sessions (account_id, session_key, name, status, is_confirmed, is_paired,
      data_key) values (${accountId}, 'wa_restored', 'Old', 'connected', true, true, 'k') returning id`
  const id = Number(row?.["id"])
  yield* sql`insert into whatsapp_keys (session_id, type, key, value) values (${id}, 'session', 'k', 'v')`
  return id
})

layer(Relay.layer({ env: { PAUSED: "true" } }), { excludeTestServices: true })(
  "a restored backup",
  (it) => {
    it.effect("a paused node accepts and reads but sends nothing, and restored ends what was queued before", () =>
      Effect.gen(function*() {
        const paused = yield* Service
        const { sink } = yield* Relay
        const { url } = yield* TestDatabase
        const sql = yield* SqlClient.SqlClient
        const { accountId, key } = yield* makeAccount()
        const receiver = yield* makeWebhookReceiver()
        const hook = yield* paused.request("POST", "/v1/webhooks", {
          key,
          json: { url: `${receiver.url}/hook`, events: ["*"] }
        })
        const hookId = Number(hook.at("data", "id"))
        const session = yield* insertSession(accountId)
        const mail = (to: string) => ({ to, subject: "Hello", text: "Hello" })
        const old = yield* sendEmail(paused, key, mail("old@people.example"))
        const batch = yield* paused.request("POST", "/v1/email/send-bulk", {
          key,
          json: { recipients: [{ to: "bulk@people.example" }], subject: "Hello", html: "<p>Hello</p>" }
        })
        const number = freshNumber()
        const sms = yield* sendSms(paused, key, { to: number, content: "Hello" })
        const stepsNumber = freshNumber()
        const steps = [{ channel: "email", subject: "Step", text: "1" }, { channel: "sms", content: "2" }]
        const failover = yield* paused.request("POST", "/v1/messages", {
          key,
          json: { to: { email: "steps@people.example", phone: stepsNumber }, steps }
        })
        assert.strictEqual(failover.status, 202, failover.text)
        yield* sql`insert into webhook_queue (webhook_id, event_id, event, status)
          values (${hookId}, 'evt_1', 'email.sent', 'pending')`

        const environment = { DATABASE_URL: url, ENCRYPTION_KEY: encryptionKey }
        const [clock] = yield* sql`select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.USZ') as now`
        const wrong = yield* cli(["restored", "--before", "yesterday"], environment)
        assert.strictEqual(wrong.code, 1)
        const { code, stderr, stdout } = yield* cli(["restored", "--before", String(clock?.["now"])], environment)
        assert.deepStrictEqual({ code, stderr }, { code: 0, stderr: "" })
        for (
          const line of [
            "email recipients: 3",
            "SMS and WhatsApp messages: 1",
            "messages with failover: 1",
            "webhook deliveries: 2",
            "WhatsApp sessions: 1"
          ]
        ) assert.include(stdout, line)

        yield* paused.stop()
        const node = yield* startNode({ smtpPort: sink.port })
        const fresh = yield* sendEmail(node, key, mail("fresh@people.example"))
        yield* reaching(node, { id: fresh, key, statuses: ["sent", "delivered"] })
        yield* receiver.received(1)
        assert.deepStrictEqual(sink.messages.flatMap(({ to }) => to), ["fresh@people.example"])
        for (const phone of [number, stepsNumber]) assert.deepStrictEqual(yield* phoneOf(node, phone), [])
        const record = (path: string) =>
          Effect.map(node.request("GET", path, { key }), ({ at }) => at("data", "status"))
        assert.strictEqual(yield* record(`/v1/email/messages/${old}`), "canceled")
        assert.strictEqual(yield* record(`/v1/email/batches/${String(batch.at("data", "batch_id"))}`), "canceled")
        assert.strictEqual(yield* record(`/v1/sms/messages/${sms}`), "canceled")
        assert.strictEqual(yield* record(`/v1/messages/${String(failover.at("data", "id"))}`), "canceled")
        const deliveries = yield* eventually(
          node.request("GET", `/v1/webhooks/${hookId}/deliveries?status=skipped`, { key }),
          ({ at }) => at("meta", "total") === 2
        )
        assert.strictEqual(deliveries.at("data", 0, "error"), "restored")
        const [row] = yield* sql`select status, is_paired, desired,
          (select count(*)::integer from whatsapp_keys where session_id = ${session}) as keys
          from whatsapp_sessions where id = ${session}`
        assert.deepStrictEqual(row, { status: "failed", is_paired: false, desired: "off", keys: 0 })
      }))
  }
)

layer(TestDatabase.layer, { excludeTestServices: true })("a restored backup with --before", (it) => {
  it.effect("keeps what was due, and the resets of passwords that were requested, after that moment", () =>
    Effect.gen(function*() {
      const { url } = yield* TestDatabase
      const sql = yield* SqlClient.SqlClient
      const { accountId } = yield* makeAccount()
      // All were made three hours ago. The restore was an hour ago: what was due since then has never been sent.
      for (const hours of [2, 0.5, -1]) {
        const sendAt = sql`now() - ${hours}::float8 * interval '1 hour'`
        const madeAt = sql`now() - interval '3 hours'`
        yield* sql`insert into email_messages (account_id, recipient, status, send_at, created_at)
          values (${accountId}, 'a', 'scheduled', ${sendAt}, ${madeAt})`
        yield* sql`insert into messages (account_id, channel, direction, recipient, type, content, status, send_at, created_at)
          values (${accountId}, 'sms', 'out', '+15550100300', 'text', '{}', 'scheduled', ${sendAt}, ${madeAt})`
        yield* sql`insert into failovers (id, account_id, status, send_at, created_at)
          values (${`msg_${hours}`}, ${accountId}, 'scheduled', ${sendAt}, ${madeAt})`
      }
      yield* sql`insert into password_reset_requests (email, client_address) values ('a@example.com', '127.0.0.1')`
      const [moment] = yield* sql`select
        to_char((now() - interval '1 hour') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.USZ') as at`

      const environment = { DATABASE_URL: url, ENCRYPTION_KEY: encryptionKey }
      const { stdout } = yield* cli(["restored", "--before", String(moment?.["at"])], environment)
      for (const line of ["email recipients: 1", "SMS and WhatsApp messages: 1", "messages with failover: 1"]) {
        assert.include(stdout, line)
      }
      const requests = sql`select from password_reset_requests`
      assert.lengthOf(yield* requests, 1)

      const all = yield* cli(["restored"], environment)
      for (const line of ["email recipients: 1", "SMS and WhatsApp messages: 1", "messages with failover: 1"]) {
        assert.include(all.stdout, line)
      }
      assert.lengthOf(yield* requests, 0)
      const left = yield* sql`select send_at > now() as is_later from email_messages where status = 'scheduled'`
      assert.deepStrictEqual(left, [{ is_later: true }])
    }))
})
