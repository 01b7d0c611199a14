/**
 * Each alert fires at its fault. The faults are caused on real nodes, whose `/metrics` are read before and after. promtool
 * repeats what was seen for two hours, because alerts wait for minutes.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as NodeFs from "node:fs"
import { parse } from "yaml"
import { read } from "../docs/documents.ts"
import { sendBulk } from "../support/bulkMail.ts"
import { makeDatabaseProxy } from "../support/DatabaseProxy.ts"
import { freePort } from "../support/freePort.ts"
import { type Sample, scrape, untilMetrics } from "../support/metrics.ts"
import { assertAlerts, hasPromtool, promtool, rules } from "../support/Promtool.ts"
import { eventually, live, makeAccount, type NodeOptions, startNode } from "../support/Service.ts"
import { sendEmail } from "../support/singleMail.ts"
import { freshNumber } from "../support/sms.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { pairedSession, untilStatus, WhatsApp } from "../support/WhatsApp.ts"

const layerOptions = { excludeTestServices: true } as const

/** What a scrape adds: whether the node answered. */
const up = (value: 0 | 1): Sample => ({ name: "up", labels: {}, value })

const measuredNode = Effect.fnUntraced(function*({ env = {}, ...options }: NodeOptions = {}) {
  const port = yield* freePort
  const node = yield* startNode({ ...options, env: { METRICS_PORT: String(port), ...env } })
  return { node, port, seen: Effect.map(scrape(node, port), (samples) => [...samples, up(1)]) }
})

const isQuick = (samples: ReadonlyArray<Sample>) =>
  samples.every(({ labels, name, value }) =>
    name !== "nodejs_eventloop_lag_seconds" || labels["quantile"] !== "1" || value < 0.5
  )

const alerts: ReadonlyArray<{ readonly alert: string; readonly annotations: Readonly<Record<string, string>> }> = parse(
  NodeFs.readFileSync(rules, "utf8")
).groups[0].rules

/** Those that a test below fires. */
const fired = new Set<string>()

/** Fails unless these alerts fire after the fault and did not fire before it. */
const assertFires = Effect.fnUntraced(function*(
  { after, before, without = before }: {
    readonly before: ReadonlyArray<Sample>
    readonly after: ReadonlyArray<Sample>
    /** What a node without the fault shows, if not `before`. */
    readonly without?: ReadonlyArray<Sample>
  },
  names: ReadonlyArray<string>
) {
  const all = (fires: boolean) => Object.fromEntries(names.map((name) => [name, fires]))
  yield* assertAlerts({ "node1:9464": { before: without } }, all(false))
  yield* assertAlerts({ "node1:9464": { before, after } }, all(true))
  for (const name of names) fired.add(name)
})

describe.skipIf(!hasPromtool)("docs/deploy/prometheus", () => {
  it.effect("promtool accepts the rules and the configuration", () =>
    Effect.andThen(
      promtool("check", "rules", rules),
      promtool("check", "config", rules.replace("alerts.yml", "prometheus.yml"))
    ))
})

describe("docs/guides/alerts.md", () => {
  it("has one section for each alert, in the same order, to which the alert links", () => {
    const sections = [...read("docs/guides/alerts.md").matchAll(/^## (.*)$/gm)].map(([, title]) => title)
    assert.deepStrictEqual(sections, alerts.map(({ alert }) => alert))
    for (const { alert, annotations } of alerts) {
      assert.strictEqual(
        annotations["runbook_url"],
        `https://messaging.example.com/docs/guides/alerts#${alert.toLowerCase()}`
      )
    }
  })
})

layer(TestDatabase.layer, layerOptions)("alerts about what waits", (it) => {
  it.effect.skipIf(!hasPromtool)(
    "fire for overdue queues, late and unhealthy webhooks, and little space",
    () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const before = yield* Effect.scoped(Effect.flatMap(measuredNode(), ({ seen }) => seen))
        // The rows are made older than they are, and the health is set instead of waiting for four attempts.
        const measured = yield* measuredNode({ env: { PAUSED: "true", DATABASE_SIZE_LIMIT_GB: "1" } })
        const { key } = yield* makeAccount()
        yield* sendEmail(measured.node, key, { to: "ann@people.example", subject: "Hello", text: "Hello" })
        yield* sql`update email_messages set due_at = now() - interval '1 hour'`
        const { url } = yield* makeWebhookReceiver()
        const webhooks = yield* Effect.forEach(["a", "b"], (path) =>
          measured.node.request("POST", "/v1/webhooks", {
            key,
            json: { url: `${url}/${path}`, events: ["*"] }
          }))
        const [late, unhealthy] = webhooks.map(({ at }) => Number(at("data", "id")))
        yield* sql`insert into webhook_queue (webhook_id, event_id, event, status, due_at)
        select ${late}::bigint, 'evt_01HZX3T5K8Q2W4Y6B9D1F3H5J7', 'email.sent', 'pending', now() - interval '1 hour'`
        yield* sql`update webhooks set unhealthy_reason = 'failing' where id = ${unhealthy}`
        yield* untilMetrics(measured, { "webhooks_unhealthy reason=failing": 1, "queue_length queue=webhooks": 1 })
        const after = yield* measured.seen
        yield* assertFires({ before, after }, ["QueueStuck", "WebhooksLate", "WebhooksUnhealthy", "DatabaseSpaceLow"])
      })
  )
})

layer(TestDatabase.layer, layerOptions)("alerts about a node", (it) => {
  it.effect.skipIf(!hasPromtool)(
    "fire when it has little memory, stands still, starts again and again, or is gone",
    () =>
      Effect.gen(function*() {
        const port = yield* freePort
        const env = { METRICS_PORT: String(port), MEMORY_LIMIT_MB: "64" }
        const start = Effect.gen(function*() {
          const node = yield* startNode({ env })
          return { node, seen: yield* scrape(node, port) }
        })
        // A start occupies the event loop.
        const healthy = yield* Effect.scoped(
          Effect.flatMap(measuredNode(), ({ seen }) => eventually(seen, isQuick, longer.start))
        )
        const first = yield* start
        yield* assertFires({ before: healthy, after: first.seen }, ["MemoryHigh"])

        // Again and again, as the alert says: one stop may fall between two measurements. A stopped node shows no state to
        // wait for, so each stop has a fixed length, and the wait is for the measurement.
        const stall = first.node.signal("SIGSTOP").pipe(
          Effect.andThen(live(Effect.sleep("2 seconds"))),
          Effect.andThen(first.node.signal("SIGCONT")),
          Effect.andThen(scrape(first.node, port))
        )
        const late = yield* eventually(stall, (samples) => !isQuick(samples), longer.turn)
        yield* assertFires({ before: healthy, after: late }, ["EventLoopLag"])

        yield* first.node.kill
        const answered = yield* Effect.promise(() =>
          fetch(`http://127.0.0.1:${port}/metrics`).then(() => 1 as const, () => 0 as const)
        )
        yield* assertFires({ before: healthy, after: [up(answered)] }, ["NodeDown"])

        const second = yield* start
        yield* second.node.kill
        const third = yield* start
        const startedAt = (samples: ReadonlyArray<Sample>) =>
          samples.find(({ name }) => name === "process_start_time_seconds")?.value ?? 0
        const starts = [first, second, third].map(({ seen }) => startedAt(seen))
        assert.deepStrictEqual(starts, [...new Set(starts)].sort())
        yield* assertAlerts({ "node1:9464": { before: healthy } }, { NodeRestarts: false })
        yield* assertAlerts({ "node1:9464": { before: first.seen, later: [second.seen, third.seen] } }, {
          NodeRestarts: true
        })
        fired.add("NodeRestarts")
      })
  )
})

/** Recipients that the sandbox treats by the start of their address. */
const people = (start: string) => Array.from({ length: 120 }, (_, index) => ({ to: `${start}${index}@people.example` }))

const mail = { subject: "Hello", html: "<p>Hello</p>" }

layer(TestDatabase.layer, layerOptions)("alerts about messages and requests", (it) => {
  it.effect.skipIf(!hasPromtool)(
    "fire for bounces, complaints, failing SMS, pumped codes, locks and a database that is gone",
    () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const proxy = yield* makeDatabaseProxy()
        const env = {
          DATABASE_URL: proxy.url,
          DATABASE_CONNECTIONS: "4",
          OTP_LIMIT_PREFIX: "1000",
          SANDBOX_SMS_DELAY_MS: "50"
        }
        const measured = yield* measuredNode({ env })
        const { node } = measured
        const { key } = yield* makeAccount()
        yield* node.request("GET", "/v1/account", { key })
        const before = yield* measured.seen

        yield* sendBulk(node, key, { ...mail, recipients: people("bounce") })
        yield* sendBulk(node, key, { ...mail, recipients: people("complain") })
        const sms = { content: "Hello", recipients: Array.from({ length: 30 }, () => ({ to: "+15005550001" })) }
        assert.strictEqual((yield* node.request("POST", "/v1/sms/send-bulk", { key, json: sms })).status, 202)
        yield* Effect.forEach(Array.from({ length: 25 }), () =>
          node.request("POST", "/v1/verify/send", { key, json: { to: freshNumber() } }))
        // People may still type a code of the last two minutes.
        yield* sql`update verification_sends set created_at = created_at - interval '5 minutes'`
        yield* untilMetrics(measured, {
          "messages_failed_total channel=email reason=bounced_hard": 120,
          "messages_complained_total channel=email": 120,
          "messages_failed_total channel=sms reason=refused": 30,
          "verification_blocks_total": 1
        })
        const failing = yield* measured.seen
        yield* assertFires({ before, after: failing }, [
          "MailBounces",
          "MailComplaints",
          "MessagesFailing",
          "CodesPumped"
        ])

        const ask = node.request("POST", "/v1/email/suppressions", { key, json: { email: "ada@people.example" } })
        const locked = yield* sql.withTransaction(Effect.gen(function*() {
          yield* sql`lock table suppressions in access exclusive mode`
          const asking = yield* Effect.forkChild(Effect.forEach(Array.from({ length: 12 }), () =>
            ask, { concurrency: 12 }))
          const samples = yield* eventually(measured.seen, (seen) =>
            seen.some(({ name, value }) =>
              name === "database_pool_wait_seconds" && value > 0.5
            ), longer.turn)
          yield* Effect.forEach(yield* Fiber.join(asking), ({ status }) =>
            Effect.sync(() =>
              assert.strictEqual(status, 503)
            ))
          return samples
        }))
        yield* assertFires({ before, after: locked }, ["DatabasePoolBusy"])
        const slow = yield* measured.seen
        yield* assertFires({ without: before, before: failing, after: slow }, ["ServerErrors", "RequestsSlow"])

        yield* proxy.become("gone")
        yield* untilMetrics(measured, { "database_up": 0 })
        yield* assertFires({ before, after: yield* measured.seen }, ["DatabaseDown"])
      })
  )

  it.effect.skipIf(!hasPromtool)("fires while the relay is away", () =>
    Effect.gen(function*() {
      const measured = yield* measuredNode({ smtpPort: yield* freePort })
      const before = yield* measured.seen
      const { key } = yield* makeAccount()
      yield* sendEmail(measured.node, key, { to: "ann@people.example", subject: "Hello", text: "Hello" })
      yield* untilMetrics(measured, { "email_relay_circuit_open": 1 })
      yield* assertFires({ before, after: yield* measured.seen }, ["RelayDown"])
    }))
})

layer(Layer.merge(WhatsApp.simulated, TestDatabase.layer), layerOptions)("alerts about WhatsApp", (it) => {
  it.effect.skipIf(!hasPromtool)("fires while the server of the sessions is away", () =>
    Effect.gen(function*() {
      const { env, simulator } = yield* WhatsApp
      const measured = yield* measuredNode({ env: { ...env, LOG_LEVEL: "info", WHATSAPP_RETRY_SECONDS: "3600" } })
      const { key } = yield* makeAccount()
      const { id } = yield* pairedSession(measured.node, key)
      yield* untilMetrics(measured, { "whatsapp_sessions status=connected": 1 })
      const before = yield* measured.seen
      yield* Effect.promise(() => simulator.stop())
      yield* untilStatus(measured.node, key, id, "disconnected")
      yield* untilMetrics(measured, { "whatsapp_sessions status=disconnected": 1 })
      yield* assertFires({ before, after: yield* measured.seen }, ["SessionsDisconnected"])
    }))

  it.effect.skipIf(!hasPromtool)(
    "the tests above have fired every alert",
    () => Effect.sync(() => assert.deepStrictEqual([...fired].sort(), alerts.map(({ alert }) => alert).sort()))
  )
})
