import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ended, sendBulk } from "../support/bulkMail.ts"
import { makeAccount } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import {
  between,
  checkLedger,
  completionOf,
  drainsWebhook,
  inDoubt,
  letter,
  listen,
  makeCluster,
  rounds,
  runsBatch,
  settled,
  slowPeople
} from "./FaultCluster.ts"
import { sinkProcess } from "./SinkProcess.ts"

/** Seconds: the expiry of a dead node's locks, the next look at the assignments, and the start of the actor. */
const longestTakeover = 15

const limit = 60_000 + rounds * 40_000

/** The nodes are killed, the database is not: the tests' server, which does without the disk, will do. */
layer(TestDatabase.layer, { excludeTestServices: true, timeout: "60 seconds" })("kill -9 of a node", (it) => {
  it.effect(
    "loses no recipient, and writes twice only to those in flight, with the same Message-ID",
    () =>
      Effect.gen(function*() {
        const sink = yield* sinkProcess
        const cluster = makeCluster({ smtpPort: sink.port })
        yield* Effect.all([cluster.start, cluster.start], { concurrency: 2 })
        const { key } = yield* makeAccount()
        const receiver = yield* makeWebhookReceiver()
        const { secret } = yield* listen(cluster.any(0), key, { url: receiver.url, events: ["email.bulk_completed"] })
        for (let round = 0; round < rounds; round++) {
          const recipients = slowPeople(300, `kill${round}`)
          const batch = yield* sendBulk(cluster.any(round), key, letter(recipients))
          yield* cluster.ownerOf(runsBatch(batch))
          const pause = between(20, 900)
          yield* Effect.sleep(pause)
          const owner = yield* cluster.ownerOf(runsBatch(batch))
          const killedAt = yield* cluster.kill(owner.node)
          const doubtful = yield* inDoubt(batch)
          // Every other time a new node comes before the survivor has noticed.
          if (round % 2 === 1) yield* cluster.start
          const { at: takenOverAt } = yield* cluster.ownerOf(runsBatch(batch), killedAt)
          const takeover = (takenOverAt - killedAt) / 1000
          const { at } = yield* ended(cluster.any(0), key, batch)
          const twice = checkLedger(yield* sink.messages, { recipients, doubtful })
          yield* Effect.log(
            `killed after ${pause} ms: taken over in ${
              takeover.toFixed(1)
            } s, ${doubtful.length} in doubt, ${twice} twice`
          )
          assert.deepInclude(at("data"), { status: "completed", total: 300, sent: 300, failed: 0, queued: 0 })
          assert.isBelow(takeover, longestTakeover)
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
        const pause = between(50, 900)
        yield* Effect.sleep(pause)
        const owner = yield* cluster.ownerOf(drainsWebhook(id))
        const killedAt = yield* cluster.kill(owner.node)
        if (round % 2 === 1) yield* cluster.start
        const { at: takenOverAt } = yield* cluster.ownerOf(drainsWebhook(id), killedAt)
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
        assert.isBelow(takeover, longestTakeover)
        assert.deepStrictEqual(
          yield* sql`select id from webhook_deliveries where webhook_id = ${id} and status <> 'delivered'`,
          []
        )
        if (round % 2 === 0) yield* cluster.start
      }
    }), limit)
})
