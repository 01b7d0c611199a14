import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ended, sendBulk } from "../support/bulkMail.ts"
import { makeAccount } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import {
  checkLedger,
  completionOf,
  letter,
  listen,
  makeCluster,
  now,
  randomPause,
  runsBatch,
  slowPeople
} from "./FaultCluster.ts"
import { rounds } from "./inTime.ts"
import { sinkProcess } from "./SinkProcess.ts"

/** Like a paused virtual machine or a long garbage collection: longer than the lifetime of a node's locks. */
layer(TestDatabase.layer, { excludeTestServices: true, timeout: "10 minutes" })(
  "frozen node",
  (it) => {
    // Only for `npm run faults`: a round waits 12 seconds for locks to expire, too long for every test run.
    it.effect.runIf(rounds > 2)(
      "a node that thaws finds its batch reclaimed, and its late results change nothing",
      () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const sink = yield* sinkProcess
          const cluster = makeCluster({ smtpPort: sink.port })
          yield* Effect.all([cluster.start, cluster.start], { concurrency: 2 })
          const { key } = yield* makeAccount()
          const receiver = yield* makeWebhookReceiver()
          const { secret } = yield* listen(cluster.any(0), key, { url: receiver.url, events: ["email.bulk_completed"] })
          const recipients = slowPeople(500, "frozen")
          const batch = yield* sendBulk(cluster.any(0), key, letter(recipients))
          yield* cluster.ownerOf(runsBatch(batch))
          yield* randomPause(100, 700)
          const { node: frozen } = yield* cluster.ownerOf(runsBatch(batch))
          const survivor = cluster.any(0) === frozen ? cluster.any(1) : cluster.any(0)
          yield* frozen.signal("SIGSTOP")
          const frozenAt = yield* now
          yield* survivor.logged(runsBatch(batch))
          const takeover = ((yield* now) - frozenAt) / 1000
          // It thaws while the other node is sending.
          yield* frozen.signal("SIGCONT")
          const { at } = yield* ended(survivor, key, batch)
          yield* completionOf(receiver, secret, batch)
          // Everything in flight has been sent and recorded when it has stopped.
          assert.deepStrictEqual(yield* cluster.stop(frozen), { code: 0, signal: null })
          const twice = checkLedger(yield* sink.messages, { recipients, doubtful: recipients })
          yield* Effect.log(`taken over in ${takeover.toFixed(1)} s, ${twice} twice`)
          assert.deepInclude(at("data"), { status: "completed", total: 500, sent: 500, queued: 0 })
          assert.deepStrictEqual(
            yield* sql`select status, count(*) from email_messages where batch_id = ${batch} group by 1`,
            [{ status: "sent", count: 500 }]
          )
          yield* completionOf(receiver, secret, batch)
        }),
      180_000
    )
  }
)
