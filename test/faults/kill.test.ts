import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { column } from "../../src/platform/database/column.ts"
import { ended, sendBulk } from "../support/bulkMail.ts"
import { eventually, makeAccount } from "../support/Service.ts"
import { sendEmail } from "../support/singleMail.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
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
  moment,
  now,
  runsBatch,
  sendsNotices,
  settled,
  slowPeople
} from "./FaultCluster.ts"
import { inTime, rounds } from "./inTime.ts"
import { sinkProcess } from "./SinkProcess.ts"

/** Seconds: the expiry of a dead node's locks, the next look at the assignments, and the start of the actor. */
const longestTakeover = 15

const limit = 120_000 + rounds * 40_000

/** The nodes are killed, the database is not: the tests' server, which does without the disk, will do. */
layer(TestDatabase.layer, { excludeTestServices: true, timeout: "10 minutes" })(
  "kill -9 of a node",
  (it) => {
    it.effect(
      "loses no recipient, and writes twice only to those in flight, with the same Message-ID",
      () =>
        Effect.gen(function*() {
          const sink = yield* sinkProcess
          const cluster = makeCluster({ smtpPort: sink.port })
          yield* Effect.all([cluster.start, cluster.start], { concurrency: 2 })
          for (let round = 0; round < rounds; round++) {
            // Each round has a receiver of its own: all of them take longer than a signature is fresh.
            const { key } = yield* makeAccount()
            const receiver = yield* makeWebhookReceiver()
            const { secret } = yield* listen(cluster.any(0), key, {
              url: receiver.url,
              events: ["email.bulk_completed"]
            })
            const recipients = slowPeople(300, `kill${round}`)
            const batch = yield* sendBulk(cluster.any(round), key, letter(recipients))
            yield* cluster.ownerOf(runsBatch(batch))
            const pause = yield* moment(20, 900)
            const owner = yield* cluster.ownerOf(runsBatch(batch))
            const killedAt = yield* cluster.kill(owner.node)
            const doubtful = yield* inDoubt(batch)
            // Every other time a new node comes before the survivor has noticed.
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
            assert.isBelow(takeover, inTime(longestTakeover))
            yield* completionOf(receiver, secret, batch)
            if (round % 2 === 0) yield* cluster.start
          }
        }),
      limit
    )

    it.effect("loses no event, and one that comes twice has the same id and bytes", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const sink = yield* sinkProcess
        const cluster = makeCluster({ smtpPort: sink.port })
        yield* Effect.all([cluster.start, cluster.start], { concurrency: 2 })
        for (let round = 0; round < rounds; round++) {
          const { key } = yield* makeAccount()
          const receiver = yield* makeWebhookReceiver({ script: () => ({ status: 200, afterMillis: between(20, 80) }) })
          const { id, secret } = yield* listen(cluster.any(round), key, { url: receiver.url, events: ["email.sent"] })
          const recipients = Array.from({ length: 250 }, (_, index) => `fine-${round}-${index}@people.example`)
          const batch = yield* sendBulk(cluster.any(round), key, letter(recipients))
          yield* cluster.ownerOf(drainsWebhook(id))
          const pause = yield* moment(50, 900)
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
          // Eight requests under way, and those answered whose outcomes one statement of at most 100 was about to write.
          assert.isAtMost(twice, 8 + 100)
          assert.isBelow(takeover, inTime(longestTakeover))
          assert.deepStrictEqual(
            yield* sql`select id from webhook_queue where webhook_id = ${id} union all
            select id from webhook_deliveries where webhook_id = ${id} and status <> 'delivered'`,
            []
          )
          if (round % 2 === 0) yield* cluster.start
        }
      }), limit)
    it.effect(
      "loses no notice, and repeats only those in flight, with the same Message-ID",
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
            const pause = yield* moment(1000, 2000)
            const owner = yield* cluster.ownerOf(sendsNotices)
            const killedAt = yield* cluster.kill(owner.node)
            const begun = yield* sql`select a.email from notices n join accounts a on a.id = n.account_id
          where n.status = 'queued' and n.attempt_count > 0`
            if (round % 2 === 1) yield* cluster.start
            const { at } = yield* cluster.ownerOf(sendsNotices)
            const takeover = (at - killedAt) / 1000
            yield* eventually(sql`select from notices where status <> 'sent'`, (rows) => rows.length === 0)
            const doubtful = begun.map(({ email }) => String(email))
            const twice = checkLedger(yield* sink.messages, { recipients, doubtful })
            yield* Effect.log(
              `killed after ${pause} ms: taken over in ${
                takeover.toFixed(1)
              } s, ${doubtful.length} in doubt, ${twice} twice`
            )
            assert.isBelow(takeover, inTime(longestTakeover))
            if (round % 2 === 0) yield* cluster.start
          }
        }),
      limit
    )

    it.effect(
      "loses no email of its own, and repeats only those in flight, with the same Message-ID",
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
            const pause = yield* moment(0, 700)
            const killedAt = yield* cluster.kill(cluster.any(round))
            const doubtful = yield* emailsInDoubt
            if (round % 2 === 1) yield* cluster.start
            yield* eventually(
              cluster.any(0).request("GET", "/v1/email/messages?status=queued", { key }),
              ({ at }) => at("meta", "total") === 0
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
