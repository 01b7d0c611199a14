import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { column } from "../../src/platform/database/column.ts"
import { ended, sendBulk } from "../support/bulkMail.ts"
import { eventually, makeAccount, startNode } from "../support/Service.ts"
import { sendEmail } from "../support/singleMail.ts"
import * as SmtpSink from "../support/SmtpSink.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import {
  between,
  checkLedger,
  completionOf,
  drainsWebhook,
  emailsInDoubt,
  inDoubt,
  letter,
  listen,
  makeCluster,
  now,
  randomPause,
  runsBatch,
  sendsNotices,
  settled,
  slowPeople
} from "./FaultCluster.ts"
import { inTime, rounds } from "./inTime.ts"
import { sinkProcess } from "./SinkProcess.ts"

/** Seconds: the leases of a dead node expire after ten, and other nodes send the rest. */
const longestTakeover = 15

/** Seconds after which another node runs the actors of a dead one: about three, as its port refuses connections. */
const longestMove = 5

const limit = 120_000 + rounds * 40_000

/** Only nodes are killed, so the shared test server without fsync is enough. */
layer(TestDatabase.layer, { excludeTestServices: true, timeout: "10 minutes" })(
  "kill -9 of a node",
  (it) => {
    it.effect(
      "a canceled batch ends although its node is killed, and no mail of it is sent again",
      () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const slow = yield* SmtpSink.make({ script: () => ({ at: "never", delayMillis: 60_000 }) })
          const sink = yield* sinkProcess
          const { key } = yield* makeAccount()
          const node = yield* startNode({ smtpPort: slow.port })
          const batch = yield* sendBulk(node, key, letter(slowPeople(40, "canceled")))
          yield* slow.until(({ dots }) => dots.length > 0)
          const canceled = yield* node.request("POST", `/v1/email/batches/${batch}/cancel`, { key })
          assert.strictEqual(canceled.at("data", "status"), "canceled")
          yield* node.stop("SIGKILL")
          const doubtful = yield* inDoubt(batch)
          assert.isNotEmpty(doubtful)
          const other = yield* startNode({ smtpPort: sink.port })
          const { at } = yield* ended(other, key, batch)
          assert.deepInclude(at("data"), { status: "canceled", canceled: 40, queued: 0, sent: 0 })
          assert.deepStrictEqual(yield* sink.messages, [])
          const errors = yield* sql`select distinct error from email_messages
          where batch_id = ${batch} and recipient = any(${column.text(doubtful)})`
          assert.deepStrictEqual(errors, [{ error: "interrupted before the relay had confirmed it" }])
        }),
      limit
    )

    it.effect(
      "a killed node loses no recipient, and only mails in flight are sent twice, with the same Message-ID",
      () =>
        Effect.gen(function*() {
          const sink = yield* sinkProcess
          const cluster = makeCluster({ smtpPort: sink.port })
          yield* Effect.all([cluster.start, cluster.start], { concurrency: 2 })
          for (let round = 0; round < rounds; round++) {
            // Each round has a new receiver, because all rounds together last longer than a signature is valid.
            const { key } = yield* makeAccount()
            const receiver = yield* makeWebhookReceiver()
            const { secret } = yield* listen(cluster.any(0), key, {
              url: receiver.url,
              events: ["email.bulk_completed"]
            })
            const recipients = slowPeople(300, `kill${round}`)
            const batch = yield* sendBulk(cluster.any(round), key, letter(recipients))
            yield* cluster.ownerOf(runsBatch(batch))
            const pause = yield* randomPause(20, 900)
            const owner = yield* cluster.ownerOf(runsBatch(batch))
            const killedAt = yield* cluster.kill(owner.node)
            const doubtful = yield* inDoubt(batch)
            // In every other round a new node starts before the survivor notices.
            if (round % 2 === 1) yield* cluster.start
            const { at: takenOverAt } = yield* cluster.ownerOf(runsBatch(batch))
            const takeover = (takenOverAt - killedAt) / 1000
            const { at } = yield* ended(cluster.any(0), key, batch)
            const twice = checkLedger(yield* sink.messages, { recipients, doubtful })
            yield* Effect.log(
              `killed after ${pause} ms: taken over in ${
                takeover.toFixed(1)
              } s, ${doubtful.length} in doubt, ${twice} twice`
            )
            assert.deepInclude(at("data"), { status: "completed", total: 300, sent: 300, failed: 0, queued: 0 })
            assert.isBelow(takeover, inTime(longestMove))
            yield* completionOf(receiver, secret, batch)
            if (round % 2 === 0) yield* cluster.start
          }
        }),
      limit
    )

    it.effect(
      "a killed node loses no recipient of small batches, and only mails in flight are sent twice, with the same Message-ID",
      () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const sink = yield* sinkProcess
          const cluster = makeCluster({ smtpPort: sink.port })
          yield* Effect.all([cluster.start, cluster.start], { concurrency: 2 })
          for (let round = 0; round < rounds; round++) {
            const { key } = yield* makeAccount()
            const node = cluster.any(round)
            const recipients = slowPeople(400, `small${round}`)
            const letters = Array.from({ length: 50 }, (_, n) => letter(recipients.slice(n * 8, n * 8 + 8)))
            const batches = yield* Effect.forEach(letters, (each) => sendBulk(node, key, each), { concurrency: 10 })
            yield* randomPause(0, 500)
            yield* cluster.kill(node)
            const rows = yield* sql`select recipient, status from email_messages
              where batch_id in ${sql.in(batches)} and status in ('queued', 'sending')`
            const doubtful = rows.filter(({ status }) => status === "sending").map((row) => String(row["recipient"]))
            for (const batch of batches) {
              const { at } = yield* ended(cluster.any(0), key, batch)
              assert.deepInclude(at("data"), { status: "completed", total: 8, sent: 8, failed: 0, queued: 0 })
            }
            const twice = checkLedger(yield* sink.messages, { recipients, doubtful })
            yield* Effect.log(`killed with ${rows.length} left, ${doubtful.length} in doubt, ${twice} twice`)
            yield* cluster.start
          }
        }),
      limit
    )

    it.effect(
      "a killed node loses no event, and a repeated event has the same id and bytes",
      () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const sink = yield* sinkProcess
          const cluster = makeCluster({ smtpPort: sink.port })
          yield* Effect.all([cluster.start, cluster.start], { concurrency: 2 })
          for (let round = 0; round < rounds; round++) {
            const { key } = yield* makeAccount()
            const receiver = yield* makeWebhookReceiver({
              script: () => ({ status: 200, afterMillis: between(20, 80) })
            })
            const { id, secret } = yield* listen(cluster.any(round), key, { url: receiver.url, events: ["email.sent"] })
            const recipients = Array.from({ length: 250 }, (_, index) => `fine-${round}-${index}@people.example`)
            const batch = yield* sendBulk(cluster.any(round), key, letter(recipients))
            yield* cluster.ownerOf(drainsWebhook(id))
            const pause = yield* randomPause(50, 900)
            const owner = yield* cluster.ownerOf(drainsWebhook(id))
            const killedAt = yield* cluster.kill(owner.node)
            if (round % 2 === 1) yield* cluster.start
            const { at: takenOverAt } = yield* cluster.ownerOf(drainsWebhook(id))
            const takeover = (takenOverAt - killedAt) / 1000
            yield* ended(cluster.any(0), key, batch)
            const { events, twice } = yield* settled(receiver, {
              secret,
              node: cluster.any(0),
              key,
              id,
              count: recipients.length
            })
            yield* Effect.log(`killed after ${pause} ms: taken over in ${takeover.toFixed(1)} s, ${twice} twice`)
            assert.deepStrictEqual(events.map(({ data }) => String(data["to"])).toSorted(), recipients.toSorted())
            // Eight requests in flight, and answered ones whose outcomes the next statement of at most 100 would have recorded.
            assert.isAtMost(twice, 8 + 100)
            assert.isBelow(takeover, inTime(longestMove))
            assert.deepStrictEqual(
              yield* sql`select id from webhook_queue where webhook_id = ${id} union all
            select id from webhook_deliveries where webhook_id = ${id} and status <> 'delivered'`,
              []
            )
            if (round % 2 === 0) yield* cluster.start
          }
        }),
      limit
    )
    it.effect(
      "a killed node loses no notice, and only those in flight are sent twice, with the same Message-ID",
      () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const sink = yield* sinkProcess
          const cluster = makeCluster({ smtpPort: sink.port })
          yield* Effect.all([cluster.start, cluster.start], { concurrency: 2 })
          for (let round = 0; round < rounds; round++) {
            const recipients = slowPeople(300, `notice${round}`)
            yield* sql`with owners as (
            insert into accounts (name, email, plan) select 'Ann', email, 'starter'
            from unnest(${column.text(recipients)}) as t (email) returning id
          )
          insert into notices (account_id, kind, subject, body) select id, 'webhook_unhealthy', 's', 'b' from owners`
            const pause = yield* randomPause(1000, 2000)
            const owner = yield* cluster.ownerOf(sendsNotices)
            const killedAt = yield* cluster.kill(owner.node)
            const begun = yield* sql`select a.email from notices n join accounts a on a.id = n.account_id
          where n.status = 'queued' and n.attempt_count > 0`
            if (round % 2 === 1) yield* cluster.start
            const { at } = yield* cluster.ownerOf(sendsNotices)
            const takeover = (at - killedAt) / 1000
            yield* eventually(
              sql`select from notices where status <> 'sent'`,
              (rows) => rows.length === 0,
              longer.takeover
            )
            const doubtful = begun.map(({ email }) => String(email))
            const twice = checkLedger(yield* sink.messages, { recipients, doubtful })
            yield* Effect.log(
              `killed after ${pause} ms: taken over in ${
                takeover.toFixed(1)
              } s, ${doubtful.length} in doubt, ${twice} twice`
            )
            assert.isBelow(takeover, inTime(longestMove))
            if (round % 2 === 0) yield* cluster.start
          }
        }),
      limit
    )

    it.effect(
      "a killed node loses no single email, and only those in flight are sent twice, with the same Message-ID",
      () =>
        Effect.gen(function*() {
          const sink = yield* sinkProcess
          const cluster = makeCluster({ smtpPort: sink.port, env: { SMTP_CONNECTIONS: "2" } })
          yield* Effect.all([cluster.start, cluster.start], { concurrency: 2 })
          const { key } = yield* makeAccount()
          for (let round = 0; round < rounds; round++) {
            const recipients = slowPeople(160, `single${round}`)
            for (let index = 0; index < recipients.length; index += 40) {
              const to = recipients.slice(index, index + 40)
              yield* sendEmail(cluster.any(index / 40), key, { to, subject: "s", text: "t" })
            }
            const pause = yield* randomPause(0, 700)
            const killedAt = yield* cluster.kill(cluster.any(round))
            const doubtful = yield* emailsInDoubt
            if (round % 2 === 1) yield* cluster.start
            yield* eventually(
              cluster.any(0).request("GET", "/v1/email/messages?status=queued", { key }),
              ({ at }) => at("meta", "total") === 0,
              longer.takeover
            )
            const settledIn = ((yield* now) - killedAt) / 1000
            const twice = checkLedger(yield* sink.messages, { recipients, doubtful })
            yield* Effect.log(
              `killed after ${pause} ms: all sent in ${
                settledIn.toFixed(1)
              } s, ${doubtful.length} in doubt, ${twice} twice`
            )
            const sent = yield* cluster.any(0).request("GET", "/v1/email/messages?status=sent", { key })
            assert.strictEqual(sent.at("meta", "total"), (round + 1) * 4)
            assert.isBelow(settledIn, inTime(longestTakeover))
            if (round % 2 === 0) yield* cluster.start
          }
        }),
      limit
    )
  }
)
