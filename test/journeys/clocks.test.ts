import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { column } from "../../src/platform/database/column.ts"
import { insertDomain } from "../support/bulkMail.ts"
import { secondsAhead } from "../support/scheduled.ts"
import { eventually, makeAccount, startNode } from "../support/Service.ts"
import { reaching, sendEmail } from "../support/singleMail.ts"
import * as SmtpSink from "../support/SmtpSink.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { create } from "../support/webhookStories.ts"

/** Moves the clock of a Node process. */
const shift = (hours: number) =>
  `data:text/javascript,${
    encodeURIComponent(`const D = Date, by = ${hours * 3_600_000};
globalThis.Date = class Date extends D {
  constructor(...all) { if (all.length > 0) super(...all); else super(D.now() + by) }
  static now() { return D.now() + by }
}`)
  }`

/** Moves the clock of a Node process at each signal: an hour forward, back, an hour back, forth. */
const jumping = `data:text/javascript,${
  encodeURIComponent(`const D = Date, jumps = [0, 1, 0, -1]
let next = 0
process.on("SIGUSR2", () => { next = (next + 1) % jumps.length })
const now = () => D.now() + jumps[next] * 3_600_000
globalThis.Date = class Date extends D {
  constructor(...all) { if (all.length > 0) super(...all); else super(now()) }
  static now() { return now() }
}`)
}`

/** A number of the sandbox that never reports. */
const silent = "+15005550003"

const clocks = { fast: 1, slow: -1 }

/** Seconds. A node that trusts its clock errs by an hour; a busy machine only delays. */
const longest = 60

const assertBetween = (seconds: number, least: number, most: number) =>
  assert.isTrue(seconds >= least && seconds < most, `${seconds} s`)

const letter = { subject: "Hello", text: "Hello" }

/** Each mail takes seconds, and the first attempt at `defer…` is put off. */
const sink = SmtpSink.make({
  script: (to, attempt) =>
    to.startsWith("defer") && attempt === 0
      ? { at: "rcpt", reply: "450 4.2.1 try again later" }
      : to.startsWith("long")
      ? { at: "never", delayMillis: 3_000 }
      : undefined
})

const nodeWith = (clock: keyof typeof clocks, smtpPort: number) =>
  startNode({ smtpPort, env: { NODE_OPTIONS: `--import=${shift(clocks[clock])}` } })

layer(TestDatabase.layer, { excludeTestServices: true })(
  "nodes whose clocks are an hour wrong",
  (it) => {
    for (const clock of ["fast", "slow"] as const) {
      it.effect(`with a ${clock} clock mails and webhooks are repeated when the database's clock says so`, () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const relay = yield* sink
          const node = yield* nodeWith(clock, relay.port)
          const { accountId, key } = yield* makeAccount()
          const receiver = yield* makeWebhookReceiver({ script: [500, 200] })
          yield* create(node, key, { url: receiver.url, events: ["email.sent"] })

          const id = yield* sendEmail(node, key, { ...letter, to: `defer.${clock}@people.example` })
          const waiting = sql`select extract(epoch from due_at - now())::float8 as seconds from email_messages
            where account_id = ${accountId} and status = 'queued' and attempt_count = 1`
          const [row] = yield* eventually(waiting, (rows) => rows.length === 1)
          assert.isTrue(Number(row?.["seconds"]) > 0 && Number(row?.["seconds"]) <= 60, String(row?.["seconds"]))
          yield* sql`update email_messages set due_at = now() where id = ${id}`
          assert.strictEqual((yield* reaching(node, { id, key, statuses: ["sent"] }))["status"], "sent")

          const [first, second] = yield* receiver.received(2, longer.turn)
          const gap = (second?.arrivedAtMillis ?? 0) - (first?.arrivedAtMillis ?? 0)
          assertBetween(gap / 1_000, 5, 5 + longest)

          const sms = yield* node.request("POST", "/v1/sms/send", { key, json: { to: "+250788123456", content: "Hi" } })
          yield* eventually(
            node.request("GET", `/v1/sms/messages/${String(sms.at("data", "message_id"))}`, { key }),
            ({ at }) => at("data", "status") === "delivered"
          )
          yield* node.stop()
        }))
    }

    for (const clock of ["fast", "slow"] as const) {
      it.effect(`with a ${clock} clock scheduled messages and steps of a failover begin when the database's clock says so`, () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const relay = yield* sink
          const node = yield* nodeWith(clock, relay.port)
          const { accountId, key } = yield* makeAccount()
          const post = Effect.fnUntraced(function*(path: string, json: object) {
            // An hour and more ahead on each clock.
            const send_at = yield* secondsAhead(7_200)
            const answer = yield* node.request("POST", path, { key, json: { ...json, send_at } })
            assert.strictEqual(answer.at("data", "status"), "scheduled", answer.text)
            return answer
          })
          const to = `later.${clock}@people.example`
          yield* post("/v1/email/send", { ...letter, to })
          yield* post("/v1/sms/send", { to: "+250788123456", content: "Hi" })
          const steps = [
            { channel: "sms", content: "Hi", to: silent, within_seconds: 10 },
            { channel: "email", ...letter, to: `step.${clock}@people.example`, until: "sent" }
          ]
          const failover = yield* post("/v1/messages", { to: {}, steps })
          for (const table of ["email_messages", "messages", "failovers"]) {
            yield* sql`update ${sql(table)} set send_at = now() + interval '2 seconds' where account_id = ${accountId}`
          }
          yield* sql`update failovers set due_at = send_at where account_id = ${accountId}`

          const lags = sql`select extract(epoch from sent_at - send_at)::float8 as lag from email_messages
              where account_id = ${accountId} and recipient = ${to}
            union all select extract(epoch from sent_at - send_at)::float8 from messages
              where account_id = ${accountId} and failover_id is null
            union all select extract(epoch from s.begun_at - f.send_at)::float8 from failover_steps s
              join failovers f on f.id = s.failover_id where f.account_id = ${accountId} and s.position = 0`
          const sent = yield* eventually(lags, (rows) => rows.every(({ lag }) => lag !== null), longer.turn)
          assert.strictEqual(sent.length, 3)
          for (const { lag } of sent) assertBetween(Number(lag), 0, longest)

          const path = `/v1/messages/${String(failover.at("data", "id"))}`
          const ended = yield* eventually(
            node.request("GET", path, { key }),
            ({ at }) => typeof at("data", "completed_at") === "string",
            longer.turn
          )
          const time = (step: number, name: string) => Date.parse(String(ended.at("data", "steps", step, name)))
          const wait = time(1, "begun_at") - time(0, "sent_at")
          assertBetween(wait / 1_000, 10, 10 + longest)
          yield* node.stop()
        }))

      it.effect(`with a ${clock} clock reports, opens and events have the database's time`, () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const node = yield* startNode({ env: { NODE_OPTIONS: `--import=${shift(clocks[clock])}` } })
          const { accountId, key } = yield* makeAccount()
          const domain = `${clock}.example`
          yield* insertDomain(accountId, domain)
          yield* sql`update email_domains set track_opens = true where account_id = ${accountId}`
          const receiver = yield* makeWebhookReceiver()
          yield* create(node, key, { url: receiver.url, events: ["email.*"] })
          const to = `delivered.${clock}@people.example`
          const id = yield* sendEmail(node, key, { ...letter, html: "<p>Hello</p>", from: `us@${domain}`, to })
          yield* reaching(node, { id, key, statuses: ["delivered"] })
          const json = { headers: { accept: "application/json" } }
          const list = yield* node.request("GET", `/sandbox/mail?to=${to}`, json)
          const { text } = yield* node.request("GET", `/sandbox/mail/${String(list.at("data", 0, "id"))}`, json)
          yield* node.request("GET", /\/t\/o\/[\w-]+\.gif/.exec(text)?.[0] ?? "/none")
          yield* reaching(node, { id, key, statuses: ["opened"] })
          const events = (yield* receiver.received(3, longer.turn)).map(({ body }): unknown => JSON.parse(String(body)))
          const [row] =
            yield* sql`select (delivered_at >= sent_at and opened_at >= delivered_at and opened_at <= now()) as follow,
              array(select extract(epoch from clock_timestamp() - t::timestamptz)::float8
                from unnest(${
              column.text(events.map((event) => String(Reflect.get(Object(event), "timestamp"))))
            }) t) as ages
            from email_messages where id = ${id}`
          assert.strictEqual(row?.["follow"], true)
          for (const age of Object(row?.["ages"]) as ReadonlyArray<number>) assertBetween(age, 0, longest)
          yield* node.stop()
        }))

      it.effect(`with a ${clock} clock a recovery sends every event that has failed until now`, () =>
        Effect.gen(function*() {
          const node = yield* nodeWith(clock, (yield* sink).port)
          const { key } = yield* makeAccount()
          const count = 3
          const sql = yield* SqlClient.SqlClient
          const receiver = yield* makeWebhookReceiver({
            script: [...Array.from({ length: 4 * count }, () => 500), 200]
          })
          const { id } = yield* create(node, key, { url: receiver.url, events: ["email.sent"] })
          for (let index = 0; index < count; index++) {
            yield* sendEmail(node, key, { ...letter, to: `${clock}.${index}@people.example` })
          }
          for (const attempts of [1, 2, 3]) {
            const tried = sql`select id from webhook_queue where webhook_id = ${id} and attempt_count >= ${attempts}`
            yield* eventually(tried, (rows) => rows.length === count)
            yield* sql`update webhook_queue set due_at = now() - interval '1 minute'
              where webhook_id = ${id} and status = 'retrying'`
          }
          const failed = node.request("GET", `/v1/webhooks/${id}/deliveries?status=failed`, { key })
          yield* eventually(failed, ({ at }) => at("meta", "total") === count)
          const since = new Date(Date.now() - 2 * 3_600_000).toISOString()
          const started = yield* node.request("POST", `/v1/webhooks/${id}/recover`, { key, json: { since } })
          assert.strictEqual(started.status, 202, started.text)
          const done = yield* eventually(
            node.request("GET", `/v1/webhooks/${id}/recoveries/${String(started.at("data", "id"))}`, { key }),
            ({ at }) => at("data", "status") === "completed"
          )
          assert.deepInclude(done.at("data"), { total: count, queued: count, delivered: count })
          yield* node.stop()
        }))
    }

    it.effect("scheduled messages leave at their time while the clock of their node jumps forward and back", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const relay = yield* sink
        const node = yield* startNode({ smtpPort: relay.port, env: { NODE_OPTIONS: `--import=${jumping}` } })
        const { accountId, key } = yield* makeAccount()
        const people = Array.from({ length: 12 }, (_, index) => `jump.${index}@people.example`)
        const send_at = yield* secondsAhead(7_200)
        for (const to of people) {
          const answer = yield* node.request("POST", "/v1/email/send", { key, json: { ...letter, to, send_at } })
          assert.strictEqual(answer.status, 202, answer.text)
        }
        // All are due within the hour that the clock jumps. One after the other becomes due in a second, and a jump follows each:
        // an hour forward, back, an hour back, forth.
        yield* sql`update email_messages set send_at = now() + interval '30 minutes' where account_id = ${accountId}`
        for (const [index, to] of people.entries()) {
          yield* sql`update email_messages set send_at = now() + interval '1 second' where account_id = ${accountId}
            and recipient = ${to}`
          yield* relay.until(({ deliveries }) => deliveries.has(to))
          assert.strictEqual(relay.messages.length, index + 1)
          const noted = sql`select from email_messages where account_id = ${accountId} and status = 'sent'`
          yield* eventually(noted, (rows) => rows.length === index + 1)
          yield* node.signal("SIGUSR2")
        }
        const rows = yield* sql`select extract(epoch from sent_at - send_at)::float8 as lag from email_messages
          where account_id = ${accountId}`
        for (const { lag } of rows) assertBetween(Number(lag), 0, longest)
        assert.deepStrictEqual(people.map((to) => relay.attempts.get(to)), people.map(() => 1))
      }))

    it.effect("a fast and a slow node never send what the other one has claimed", () =>
      Effect.gen(function*() {
        const relay = yield* sink
        const nodes = [yield* nodeWith("fast", relay.port), yield* nodeWith("slow", relay.port)]
        const { key } = yield* makeAccount()
        const people = Array.from({ length: 12 }, (_, index) => `long.${index}@people.example`)
        for (const [index, node] of nodes.entries()) {
          for (const to of people.slice(6 * index, 6 * index + 6)) yield* sendEmail(node, key, { ...letter, to })
        }
        yield* relay.until(({ deliveries }) => people.every((to) => deliveries.has(to)))
        assert.deepStrictEqual(people.map((to) => relay.attempts.get(to)), people.map(() => 1))
      }))
  }
)
