import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { read } from "../docs/documents.ts"
import { sendBulk } from "../support/bulkMail.ts"
import { checkCode, codeFor, sendCode } from "../support/codes.ts"
import { freePort } from "../support/freePort.ts"
import { parseMetrics, type Sample, scrape, untilMetrics, valuesOf } from "../support/metrics.ts"
import { secondsAhead } from "../support/scheduled.ts"
import * as ScriptedSmtp from "../support/ScriptedSmtp.ts"
import { makeAccount, makeKey, startNode } from "../support/Service.ts"
import { ann, makeSimulator, memory } from "../support/simulatedSession.ts"
import { reaching, sendEmail } from "../support/singleMail.ts"
import { freshNumber, sendSms, smsReaching } from "../support/sms.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { create } from "../support/webhookStories.ts"
import { createSession, pairedSession, untilConnected, untilStatus, WhatsApp } from "../support/WhatsApp.ts"
import { accepted, unpaced, untilMessage } from "../support/whatsAppMessages.ts"

const layerOptions = { excludeTestServices: true } as const

/** A node with metrics. */
const measuredNode = Effect.fnUntraced(function*(env: Readonly<Record<string, string>> = {}, smtpPort?: number) {
  const port = yield* freePort
  const options = { env: { METRICS_PORT: String(port), ...env }, ...(smtpPort !== undefined && { smtpPort }) }
  return { node: yield* startNode(options), port }
})

/** No label holds the address, number or host of anybody. `le` is the boundary of a histogram. */
const assertAnonymous = (samples: ReadonlyArray<Sample>) => {
  for (const { labels: { le: _, ...labels }, name } of samples) {
    for (const value of Object.values(labels)) {
      assert.notMatch(value, /@|\d{6,}|people\.example|localhost/, `${name} has a label with an address`)
    }
  }
}

/** All series but those by method and status, and those of the cluster's entities. */
const seriesOf = (samples: ReadonlyArray<Sample>) =>
  new Set(
    samples.filter(({ name }) => !/^(?:http_requests_total|effect_)/.test(name)).map(({ labels, name }) =>
      JSON.stringify([name, labels])
    )
  )

layer(Layer.merge(WhatsApp.simulated, TestDatabase.layer), layerOptions)("metrics of messages", (it) => {
  it.effect("messages on each channel, codes and webhook attempts count once, and no label names a person", () =>
    Effect.gen(function*() {
      const { env, phone } = yield* WhatsApp
      const measured = yield* measuredNode({ ...env, ...unpaced, SANDBOX_SMS_DELAY_MS: "50", LOG_LEVEL: "info" })
      const { node } = measured
      const before = yield* scrape(node, measured.port)
      const { key } = yield* makeAccount()
      const receiver = yield* makeWebhookReceiver({ script: [200] })
      yield* create(node, key, { url: `${receiver.url}/in`, events: ["email.sent"] })
      const failing = yield* makeWebhookReceiver({ script: [500] })
      yield* create(node, key, { url: `${failing.url}/in`, events: ["email.bounced"] })

      for (const [to, status] of [["delivered", "delivered"], ["bounce", "bounced"]] as const) {
        const id = yield* sendEmail(node, key, { to: `${to}@people.example`, subject: "Hello", text: "Hello" })
        yield* reaching(node, { id, key, statuses: [status] })
      }
      const sms = yield* sendSms(node, key, { to: freshNumber(), content: "Hello" })
      yield* smsReaching(node, { id: sms, key, statuses: ["delivered"] })
      const session = yield* pairedSession(node, key)
      const message = { session_id: session.id, to: yield* phone, content: "Hello" }
      yield* untilMessage(node, key, yield* accepted(node, key, message), "read")
      const to = freshNumber()
      const { id } = yield* sendCode(node, { key, json: { to, channel: "sms" } })
      const code = yield* codeFor(node, to)
      assert.strictEqual((yield* checkCode(node, { key, json: { id, code } })).status, 200)
      const again = yield* sendCode(node, { key, json: { to, channel: "sms" } }).pipe(Effect.exit)
      assert.strictEqual(again._tag, "Failure")
      yield* receiver.received(1)
      yield* failing.received(1)

      yield* untilMetrics(measured, {
        "messages_accepted_total channel=email": 2,
        "messages_sent_total channel=email": 1,
        "messages_delivered_total channel=email": 1,
        "messages_failed_total channel=email reason=bounced_hard": 1,
        "messages_accepted_total channel=sms": 2,
        "messages_sent_total channel=sms": 2,
        "messages_delivered_total channel=sms": 2,
        "messages_accepted_total channel=whatsapp": 1,
        "messages_sent_total channel=whatsapp": 1,
        "messages_delivered_total channel=whatsapp": 1,
        "verification_codes_sent_total channel=sms": 1,
        "verification_codes_confirmed_total channel=sms": 1,
        "verification_codes_refused_total reason=resend_cool_down": 1,
        "webhook_attempts_total outcome=delivered": 1,
        "webhook_lag_milliseconds_count": 2,
        "whatsapp_sessions status=connected": 1,
        "queue_length queue=webhooks": 1,
        "queue_length queue=email": 0,
        "email_relay_circuit_open": 0,
        "database_up": 1
      })

      const samples = yield* scrape(node, measured.port)
      // It is retried meanwhile.
      const refused = valuesOf(samples, ["webhook_attempts_total outcome=http_status"])
      assert.isAtLeast(Object.values(refused)[0] ?? 0, 1)
      assertAnonymous(samples)
      assert.deepStrictEqual(seriesOf(samples), seriesOf(before))
      assert.isBelow(samples.length, 400)
    }))

  it.effect("a message that fails counts once under its reason, and a provider's own code counts as refused", () =>
    Effect.gen(function*() {
      const { env, phone, simulator } = yield* WhatsApp
      const measured = yield* measuredNode({ ...env, ...unpaced, SANDBOX_SMS_DELAY_MS: "50" })
      const { node } = measured
      const { key } = yield* makeAccount()
      for (const last of [1, 2, 5]) {
        const id = yield* sendSms(node, key, { to: `+1500555000${last}`, content: "Hello" })
        yield* smsReaching(node, { id, key, statuses: ["failed"] })
      }
      const session = yield* pairedSession(node, key)
      const fails = (to: string) =>
        Effect.flatMap(
          accepted(node, key, { session_id: session.id, to, content: "Hello" }),
          (id) => untilMessage(node, key, id, "failed")
        )
      yield* fails("+442079460000")
      simulator.controls.setFault(session.number, { kind: "ack-error", code: 463 })
      yield* fails(yield* phone)
      yield* untilMetrics(measured, {
        "messages_failed_total channel=sms reason=refused": 1,
        "messages_failed_total channel=sms reason=undeliverable": 1,
        "messages_failed_total channel=sms reason=expired": 1,
        "messages_failed_total channel=whatsapp reason=recipient_not_on_whatsapp": 1,
        "messages_failed_total channel=whatsapp reason=refused": 1
      })
      const failed = (yield* scrape(node, measured.port)).filter(({ name }) => name === "messages_failed_total")
      assert.strictEqual(failed.reduce((sum, { value }) => sum + value, 0), 5)
      assertAnonymous(failed)
    }))

  it.effect("an email counts as failed when its outcome stays unknown, and a scheduled test message never counts", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const measured = yield* measuredNode()
      const { node } = measured
      const { accountId, key } = yield* makeAccount()
      const { key: testKey } = yield* makeKey(accountId, { mode: "test" })
      const send_at = yield* secondsAhead(3_600)
      const content = { send_at, to: freshNumber(), content: "Hello" }
      const [live, test] = [yield* sendSms(node, key, content), yield* sendSms(node, testKey, content)]
      const mail = { to: "a@people.example", subject: "Hello", text: "Hello", send_at }
      const id = yield* sendEmail(node, key, mail)
      yield* sql`update email_messages set status = 'sending', attempt_count = 10, due_at = now() - interval '1 day'
        where id = ${id}`
      yield* reaching(node, { id, key, statuses: ["failed"] })
      yield* sql`update accounts set awaits_confirmation = true where id in (${accountId}, ${-accountId})`
      yield* sql`update messages set send_at = now() where id in (${live}, ${test})`
      yield* smsReaching(node, { id: live, key, statuses: ["failed"] })
      yield* smsReaching(node, { id: test, key: testKey, statuses: ["failed"] })
      yield* untilMetrics(measured, {
        "messages_failed_total channel=email reason=outcome_unknown": 1,
        "messages_failed_total channel=sms reason=refused": 1
      })
    }))

  it.effect("a connection that ends with the server of WhatsApp counts as lost, and so does the one that follows it", () =>
    Effect.gen(function*() {
      const storage = memory()
      // The second simulator listens there, too.
      const port = yield* freePort
      const server = yield* makeSimulator({ storage, port })
      const env = { WHATSAPP_URL: server.url, WHATSAPP_RETRY_SECONDS: "1", WHATSAPP_RETRY_LONGEST_SECONDS: "1" }
      const measured = yield* measuredNode(env)
      const { key } = yield* makeAccount()
      const { id, qr } = yield* createSession(measured.node, key)
      server.controls.scan(qr, ann)
      yield* untilConnected(measured.node, key, id, (next) => Effect.sync(() => server.controls.scan(next, ann)))
      yield* untilMetrics(measured, {
        "whatsapp_sessions status=connected": 1,
        "whatsapp_reconnects_total cause=lost": 0
      })
      yield* Effect.promise(() => server.stop())
      yield* untilStatus(measured.node, key, id, "disconnected")
      yield* makeSimulator({ storage, port })
      yield* untilStatus(measured.node, key, id, "connected")
      const lost = ["whatsapp_reconnects_total cause=lost", "whatsapp_connections_ended_total cause=lost"]
      const counted = Object.values(valuesOf(yield* scrape(measured.node, measured.port), lost))
      // Attempts before the server is back are lost too.
      assert.isAtLeast(counted[0] ?? 0, 1)
      assert.strictEqual(counted[0], counted[1])
    }))

  it.effect("notices, messages of a connected session and received ones show in the metrics of their queues", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { env, phone } = yield* WhatsApp
      const { accountId, key } = yield* makeAccount()
      const first = yield* startNode({ env })
      const session = yield* pairedSession(first, key)
      yield* first.stop()
      const measured = yield* measuredNode({ ...env, PAUSED: "true" })
      yield* accepted(measured.node, key, { session_id: session.id, to: yield* phone, content: "Hello" })
      const other = yield* makeKey(accountId)
      assert.strictEqual((yield* measured.node.request("DELETE", `/v1/api-keys/${other.id}`, { key })).status, 200)
      // No connection receives while the node is paused.
      yield* sql`insert into whatsapp_inbox (session_id, kind, chat, whatsapp_id) values (${session.id}, 'message', 'a', 'b')`
      yield* sql`update whatsapp_inbox set received_at = now() - interval '1 hour'`
      yield* sql`update whatsapp_outbox set due_at = now() - interval '2 hours' where status = 'queued'`
      yield* sql`update notices set due_at = now() - interval '3 hours' where status = 'queued'`
      yield* untilMetrics(measured, {
        "queue_length queue=whatsapp_inbox": 1,
        "queue_length queue=whatsapp": 1,
        "queue_length queue=notices": 1
      })
      const ages = (yield* scrape(measured.node, measured.port)).filter(({ name, value }) =>
        name === "queue_oldest_seconds" && value > 0
      ).map(({ labels, value }) => [labels["queue"], Math.floor(value / 3_600)])
      assert.sameDeepMembers(ages, [["whatsapp_inbox", 1], ["whatsapp", 2], ["notices", 3]])
    }))

  it.effect("a relay that is away opens the circuit of the node, and closes it when the relay is back", () =>
    Effect.gen(function*() {
      const smtpPort = yield* freePort
      const measured = yield* measuredNode({}, smtpPort)
      const { key } = yield* makeAccount()
      const id = yield* sendEmail(measured.node, key, { to: "ann@people.example", subject: "Hello", text: "Hello" })
      yield* untilMetrics(measured, { "email_relay_circuit_open": 1, "queue_length queue=email": 1 })
      yield* ScriptedSmtp.make({ port: smtpPort })
      yield* reaching(measured.node, { id, key, statuses: ["sent"] })
      yield* untilMetrics(measured, { "email_relay_circuit_open": 0, "queue_length queue=email": 0 })
    }))
})

layer(TestDatabase.layer, layerOptions)("metrics of a node", (it) => {
  it.effect("what waits shows in the length of its queue and in the age of its oldest item", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const measured = yield* measuredNode({ PAUSED: "true" })
      const { key } = yield* makeAccount()
      const { node, port } = measured
      yield* sendEmail(node, key, { to: "ann@people.example", subject: "Hello", text: "Hello" })
      yield* sendBulk(node, key, {
        subject: "Hello",
        html: "Hello",
        recipients: [{ to: "ann@people.example" }, { to: "bob@people.example" }]
      })
      yield* sendSms(node, key, { to: freshNumber(), content: "Hello" })
      for (const table of ["email_messages", "sms_parts"]) {
        yield* sql`update ${sql(table)} set due_at = now() - interval '1 hour' where status = 'queued'`
      }
      const expected = {
        "queue_length queue=email": 1,
        "queue_length queue=email_bulk": 2,
        "queue_length queue=sms": 1,
        "queue_length queue=notices": 0
      }
      yield* untilMetrics(measured, expected)
      const samples = yield* scrape(node, port)
      const ages = samples.filter(({ name, value }) => name === "queue_oldest_seconds" && value >= 3_600)
      assert.sameMembers(ages.map(({ labels }) => labels["queue"]), ["email", "email_bulk", "sms"])
    }))

  it.effect("the process, its event loop and the connections to the database are measured at each scrape", () =>
    Effect.gen(function*() {
      const { node, port } = yield* measuredNode()
      const text = (yield* node.request("GET", "/metrics", { origin: `http://127.0.0.1:${port}` })).text
      const value = (name: string) => parseMetrics(text).find((sample) => sample.name === name)?.value ?? -1
      assert.isAbove(value("process_resident_memory_bytes"), 50_000_000)
      assert.isAbove(value("process_memory_limit_bytes"), value("process_resident_memory_bytes"))
      assert.isAbove(value("nodejs_heap_size_limit_bytes"), value("nodejs_heap_size_used_bytes"))
      assert.isAbove(value("process_cpu_seconds_total"), 0.1)
      assert.isAbove(value("nodejs_eventloop_utilization_ratio"), 0)
      assert.isAbove(value("database_connections_limit"), 10)
      assert.isAtLeast(value("database_pool_wait_seconds"), 0)
      assert.isBelow(value("database_pool_wait_seconds"), 15)
      const open = parseMetrics(text).filter(({ name }) => name === "database_connections")
      assert.isAbove(open.reduce((sum, sample) => sum + sample.value, 0), 2)
      assert.include(text, "# TYPE messages_accepted_total counter")
      assert.include(text, "# TYPE queue_length gauge")
    }))

  it.effect("docs/guides/monitoring.md lists each metric with its labels, and no other", () =>
    Effect.gen(function*() {
      const { node, port } = yield* measuredNode({ DATABASE_SIZE_LIMIT_GB: "100" })
      yield* node.request("GET", "/health/ready")
      const labels = new Map<string, Set<string>>()
      for (const sample of yield* scrape(node, port)) {
        const name = sample.name.replace(/_(?:bucket|sum|count|min|max)$/, "")
        const known = labels.get(name) ?? new Set()
        labels.set(name, known)
        for (const label of Object.keys(sample.labels)) if (label !== "le") known.add(label)
      }
      const listed = new Map(
        [...read("docs/guides/monitoring.md").matchAll(/^\| `(\w+)` \| (.*?) ?\| \S/gm)].map((
          [, name = "", list = ""]
        ) => [
          name,
          [...list.matchAll(/`(\w+)`/g)].map(([, label = ""]) => label)
        ])
      )
      const own = [...labels].filter(([name]) => !name.startsWith("effect_") || listed.has(name))
      assert.deepStrictEqual(
        Object.fromEntries([...listed].map(([name, list]) => [name, list.toSorted()])),
        Object.fromEntries(own.map(([name, found]) => [name, [...found].toSorted()]))
      )
    }))
})
