/** Mail queued while the relay is down or refuses the service. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ended, sendBulk } from "../support/bulkMail.ts"
import { freePort } from "../support/freePort.ts"
import * as ScriptedSmtp from "../support/ScriptedSmtp.ts"
import { selfSigned } from "../support/selfSigned.ts"
import { eventually, makeAccount, type NodeOptions, type RunningNode, startNode } from "../support/Service.ts"
import { reaching, sendEmail } from "../support/singleMail.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"

const people = Array.from({ length: 300 }, (_, index) => `wait${index}@people.example`)
const text = { subject: "s", html: "<p>h</p>" }

/** A batch and a single email accepted during the outage, once the relay has been tried several times. */
const waiting = Effect.fnUntraced(function*(node: RunningNode, key: string) {
  const batch = yield* sendBulk(node, key, { ...text, recipients: people })
  const single = yield* sendEmail(node, key, { ...text, to: "alone@people.example" })
  yield* eventually(Effect.sync(() => pauses(node)), (count) => count >= 3, longer.turn)
  return { batch, single }
})

/** How many rows were claimed and released, which their error shows, and how many attempts were counted. */
const troubled = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`select count(*) filter (where error is not null)::int as noted,
    coalesce(sum(attempt_count), 0)::int as attempts, count(*) filter (where status not in ('queued', 'sending'))::int as over
    from email_messages`
  return row
})

const pauses = (node: RunningNode) => node.logs.filter((line) => line.includes("SMTP relay unavailable")).length

/** During the outage only probes claim mail, and all of it is sent after recovery. */
const pausesAndRecovers = Effect.fnUntraced(function*<R>(options: NodeOptions, recover: Effect.Effect<void, never, R>) {
  const node = yield* startNode(options)
  const { key } = yield* makeAccount()
  const { batch, single } = yield* waiting(node, key)
  const during = yield* troubled
  assert.deepInclude(during, { attempts: 0, over: 0 })
  // Recipients claimed before the outage was noticed, and one for each probe.
  assert.isAtMost(Number(during?.["noted"]), 30)
  const unwanted = yield* sendBulk(node, key, { ...text, recipients: ["unwanted@people.example"] })
  yield* node.request("POST", `/v1/email/batches/${unwanted}/cancel`, { key })
  assert.deepInclude((yield* ended(node, key, unwanted)).at("data"), { status: "canceled", canceled: 1 })
  yield* recover
  const done = yield* ended(node, key, batch)
  assert.deepInclude(done.at("data"), { status: "completed", sent: people.length, failed: 0 })
  yield* reaching(node, { id: single, key, statuses: ["sent"] })
})

layer(TestDatabase.layer, { excludeTestServices: true })(
  "relay that refuses connections",
  (it) => {
    it.effect(
      "a batch and a single email wait during the outage without using attempts, and are sent after it",
      () =>
        Effect.gen(function*() {
          const port = yield* freePort
          yield* pausesAndRecovers({ smtpPort: port }, Effect.asVoid(ScriptedSmtp.make({ port })))
        })
    )
  }
)

layer(TestDatabase.layer, { excludeTestServices: true })(
  "relay that refuses the login",
  (it) => {
    it.effect(
      "a batch and a single email wait without using attempts, and each is sent once when the login works",
      () =>
        Effect.gen(function*() {
          let isHealthy = false
          const relay = yield* ScriptedSmtp.make({
            extensions: ["AUTH PLAIN"],
            command: (line) => line.startsWith("AUTH") && !isHealthy ? "535 5.7.8 wrong password" : undefined
          })
          const options = { env: { SMTP_URL: `smtp://user:password@127.0.0.1:${relay.port}?tls=never` } }
          yield* pausesAndRecovers(options, Effect.sync(() => void (isHealthy = true)))
          assert.strictEqual(relay.bodies.length, people.length + 1)
        })
    )
  }
)

/** Sent in place of a TLS handshake. */
const noise: ScriptedSmtp.ScriptedAnswer = { slowly: "220 2.0.0 go ahead\r\nnoise, and not TLS", millis: 1 }

layer(TestDatabase.layer, { excludeTestServices: true })(
  "relay with broken STARTTLS",
  (it) => {
    it.effect(
      "mail waits while STARTTLS is broken, nothing goes out in plain text, and each is sent once when it works",
      () =>
        Effect.gen(function*() {
          let isHealthy = false
          const inTheClear: Array<string> = []
          const relay = yield* ScriptedSmtp.make({
            extensions: ["STARTTLS"],
            tls: selfSigned,
            command: (line, _, isSecure) => {
              // A TLS handshake contains random bytes, which may look like other commands.
              if (!isSecure && /^(AUTH|MAIL|RCPT|DATA)/.test(line)) inTheClear.push(line)
              return line === "STARTTLS" && !isHealthy ? noise : undefined
            }
          })
          // TLS is optional here, but a relay that offers it must not get plain text when it fails.
          const options = { env: { SMTP_URL: `smtp://127.0.0.1:${relay.port}?tls=offered&verify=false` } }
          yield* pausesAndRecovers(options, Effect.sync(() => void (isHealthy = true)))
          assert.deepStrictEqual(inTheClear, [])
          assert.strictEqual(relay.bodies.length, people.length + 1)
        })
    )
  }
)

layer(TestDatabase.layer, { excludeTestServices: true })(
  "relay that ends each conversation about one recipient",
  (it) => {
    it.effect(
      "one poisonous recipient bounces softly after eight attempts and delays no other mail",
      () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const relay = yield* ScriptedSmtp.make({
            command: (line) => line.startsWith("RCPT TO:<poison") ? "421 4.3.0 filter crashed" : undefined
          })
          const node = yield* startNode({ smtpPort: relay.port })
          const { key } = yield* makeAccount()
          const recipients = ["poison@people.example", ...people.slice(0, 19)]
          const batch = yield* sendBulk(node, key, { ...text, recipients })
          yield* relay.until(() => relay.bodies.length === 19, longer.turn)
          // Makes retries due at once; the sweeper wakes a batch that has due recipients.
          yield* Effect.forkChild(
            Effect.forever(Effect.delay(
              sql`update email_messages set due_at = now() - interval '1 minute'
              where batch_id = ${batch} and status = 'queued'`,
              "500 millis"
            ))
          )
          const done = yield* ended(node, key, batch)
          assert.deepInclude(done.at("data"), { status: "completed", sent: 19, failed: 1 })
          const rows = yield* sql`select status, bounce_type, attempt_count, error from email_messages
          where recipient = 'poison@people.example'`
          const error = "421 4.3.0 filter crashed"
          assert.deepStrictEqual(rows, [{ status: "bounced", bounce_type: "soft", attempt_count: 8, error }])
          assert.strictEqual(pauses(node), 0)
        })
    )
  }
)
