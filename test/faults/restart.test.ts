import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ended, sendBulk } from "../support/bulkMail.ts"
import { eventually, makeAccount } from "../support/Service.ts"
import { sendEmail } from "../support/singleMail.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"
import { makeWebhookReceiver } from "../support/WebhookReceiver.ts"
import { DurableDatabase } from "./DurableDatabase.ts"
import {
  between,
  checkLedger,
  completionOf,
  inDoubt,
  letter,
  listen,
  makeCluster,
  now,
  randomPause,
  runsBatch,
  settled,
  slowPeople
} from "./FaultCluster.ts"
import { inTime } from "./inTime.ts"
import { sinkProcess } from "./SinkProcess.ts"

layer(TestDatabase.layer, { excludeTestServices: true, timeout: "10 minutes" })(
  "restart",
  (it) => {
    it.effect(
      "SIGTERM hands a batch over: no recipient is lost and none gets two mails",
      () =>
        Effect.gen(function*() {
          const sink = yield* sinkProcess
          const cluster = makeCluster({ smtpPort: sink.port })
          yield* Effect.all([cluster.start, cluster.start], { concurrency: 2 })
          const { key } = yield* makeAccount()
          const receiver = yield* makeWebhookReceiver({ script: () => ({ status: 200, afterMillis: between(20, 80) }) })
          const { id, secret } = yield* listen(cluster.any(0), key, { url: receiver.url, events: ["email.*"] })
          const recipients = slowPeople(300, "term")
          const batch = yield* sendBulk(cluster.any(0), key, letter(recipients))
          const owner = yield* cluster.ownerOf(runsBatch(batch))
          yield* randomPause(100, 700)
          const signaledAt = yield* now
          const exit = yield* cluster.stop(owner.node)
          const leaving = ((yield* now) - signaledAt) / 1000
          assert.deepStrictEqual(exit, { code: 0, signal: null })
          const { at: takenOverAt } = yield* cluster.ownerOf(runsBatch(batch), signaledAt)
          const { at } = yield* ended(cluster.any(0), key, batch)
          assert.deepInclude(at("data"), { status: "completed", total: 300, sent: 300, queued: 0 })
          assert.strictEqual(checkLedger(yield* sink.messages, { recipients, doubtful: [] }), 0)
          const { twice } = yield* settled(receiver, { secret, node: cluster.any(0), key, id, count: 301 })
          yield* completionOf(receiver, secret, batch)
          yield* Effect.log(
            `left in ${leaving.toFixed(1)} s, taken over after ${
              ((takenOverAt - signaledAt) / 1000).toFixed(1)
            } s, ${twice} events twice`
          )
          assert.strictEqual(twice, 0)
          assert.isBelow(leaving, inTime(20))
        })
    )

    it.effect(
      "SIGTERM hands single emails over: no recipient is lost and none gets two mails",
      () =>
        Effect.gen(function*() {
          const sink = yield* sinkProcess
          const cluster = makeCluster({ smtpPort: sink.port, env: { SMTP_CONNECTIONS: "2" } })
          yield* Effect.all([cluster.start, cluster.start], { concurrency: 2 })
          const { key } = yield* makeAccount()
          const recipients = slowPeople(160, "leave")
          for (let index = 0; index < recipients.length; index += 40) {
            const to = recipients.slice(index, index + 40)
            yield* sendEmail(cluster.any(index / 40), key, { to, subject: "s", text: "t" })
          }
          yield* randomPause(0, 500)
          const signaledAt = yield* now
          assert.deepStrictEqual(yield* cluster.stop(cluster.any(0)), { code: 0, signal: null })
          assert.isBelow(((yield* now) - signaledAt) / 1000, inTime(20))
          yield* eventually(
            cluster.any(0).request("GET", "/v1/email/messages?status=sent", { key }),
            ({ at }) => at("meta", "total") === 4,
            longer.takeover
          )
          assert.strictEqual(checkLedger(yield* sink.messages, { recipients, doubtful: [] }), 0)
        })
    )

    it.effect(
      "after kill -9 of all nodes a new node finishes the batch, and no recipient is lost",
      () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const sink = yield* sinkProcess
          const cluster = makeCluster({ smtpPort: sink.port })
          yield* Effect.all([cluster.start, cluster.start], { concurrency: 2 })
          const { key } = yield* makeAccount()
          const receiver = yield* makeWebhookReceiver()
          const { id, secret } = yield* listen(cluster.any(0), key, { url: receiver.url, events: ["email.*"] })
          const recipients = slowPeople(300, "all")
          const batch = yield* sendBulk(cluster.any(0), key, letter(recipients))
          yield* cluster.ownerOf(runsBatch(batch))
          yield* randomPause(100, 700)
          yield* Effect.all([cluster.kill(cluster.any(0)), cluster.kill(cluster.any(1))], { concurrency: 2 })
          const doubtful = yield* inDoubt(batch)
          const [before] = yield* sql`select sent from email_batches where id = ${batch}`
          const node = yield* cluster.start
          const startedAt = yield* now
          const { at: takenOverAt } = yield* cluster.ownerOf(runsBatch(batch))
          const { at } = yield* ended(node, key, batch)
          const twice = checkLedger(yield* sink.messages, { recipients, doubtful })
          yield* Effect.log(
            `${String(before?.["sent"])} were sent; gone on after ${
              ((takenOverAt - startedAt) / 1000).toFixed(1)
            } s, ${twice} twice`
          )
          assert.deepInclude(at("data"), { status: "completed", total: 300, sent: 300, queued: 0 })
          const { events } = yield* settled(receiver, { secret, node, key, id, count: 301 })
          assert.strictEqual(events.length, 301)
          yield* completionOf(receiver, secret, batch)
          assert.isBelow((takenOverAt - startedAt) / 1000, inTime(15))
        })
    )
  }
)

/** The longest gap between deliveries from `since` on, in milliseconds. */
const longestSilence = (requests: ReadonlyArray<{ readonly arrivedAtMillis: number }>, since: number) => {
  const times = requests.map(({ arrivedAtMillis }) => arrivedAtMillis).filter((at) => at > since)
  return Math.max(...times.map((at, index) => at - (times[index - 1] ?? since)))
}

const OwnServer = TestDatabase.layerClient.pipe(Layer.provideMerge(DurableDatabase.layer))

layer(OwnServer, { excludeTestServices: true })("restart of PostgreSQL under load", (it) => {
  for (const signal of ["SIGINT", "SIGQUIT"] as const) {
    it.effect(
      `${signal} to PostgreSQL loses no recipient, and requests during the restart get 503`,
      () =>
        Effect.gen(function*() {
          const database = yield* DurableDatabase
          const sink = yield* sinkProcess
          const cluster = makeCluster({ smtpPort: sink.port })
          yield* cluster.start
          yield* cluster.start
          const { key } = yield* makeAccount()
          const receiver = yield* makeWebhookReceiver({ script: () => ({ status: 200, afterMillis: between(5, 20) }) })
          const { id, secret } = yield* listen(cluster.any(0), key, { url: receiver.url, events: ["email.*"] })
          const recipients = slowPeople(300, signal.toLowerCase())
          const batch = yield* sendBulk(cluster.any(0), key, letter(recipients))
          yield* cluster.ownerOf(runsBatch(batch))
          yield* randomPause(100, 500)
          const restartedAt = yield* now
          yield* database.restart(signal)
          const statuses = new Map<number, number>()
          let slowest = 0
          const poll = Effect.gen(function*() {
            const askedAt = yield* now
            const { status } = yield* cluster.any(0).request("GET", `/v1/email/batches/${batch}`, { key })
            slowest = Math.max(slowest, (yield* now) - askedAt)
            statuses.set(status, (statuses.get(status) ?? 0) + 1)
            return status === 200 && (yield* now) - restartedAt > 1_500
          })
          // Like clients that poll a batch's progress.
          yield* eventually(poll, (isDone) => isDone, longer.takeover)
          const { at } = yield* ended(cluster.any(0), key, batch)
          const seconds = ((yield* now) - restartedAt) / 1000
          const twice = checkLedger(yield* sink.messages, { recipients, doubtful: recipients })
          yield* Effect.log(
            `done ${seconds.toFixed(1)} s after ${signal}, ${twice} twice, answers ${
              JSON.stringify([...statuses])
            }, slowest ${slowest.toFixed(0)} ms`
          )
          assert.deepInclude(at("data"), { status: "completed", total: 300, sent: 300, queued: 0 })
          const { events } = yield* settled(receiver, { secret, node: cluster.any(0), key, id, count: 301 })
          assert.strictEqual(events.length, 301)
          assert.isBelow(longestSilence(receiver.requests, restartedAt), inTime(10_000))
          yield* completionOf(receiver, secret, batch)
          assert.deepStrictEqual([...statuses.keys()].filter((status) => status !== 200 && status !== 503), [])
          assert.isBelow(slowest, inTime(5_500))
        })
    )
  }
})
