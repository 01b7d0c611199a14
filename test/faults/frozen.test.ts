import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { asking, ended, sendBulk } from "../support/bulkMail.ts"
import { eventually, makeAccount } from "../support/Service.ts"
import { sendEmail } from "../support/singleMail.ts"
import { freshNumber } from "../support/sms.ts"
import { makeSmsc } from "../support/Smsc.ts"
import * as SmtpSink from "../support/SmtpSink.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"
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
import { sinkProcess } from "./SinkProcess.ts"

/** Every answer of the relay takes a while, so that transactions are at each of their steps when a node freezes. */
const slowScript: SmtpSink.SinkScript = () => ({
  at: "never",
  delayMillis: Math.random() * 40,
  rcptMillis: Math.random() * 40
})

const people = (count: number, name: string) =>
  Array.from({ length: count }, (_, index) => `${name}-${index}@people.example`)

const helo = (index: number) => `node-${index}.test.example`

/** Like a paused virtual machine or a long garbage collection: longer than the lifetime of a node's locks. */
layer(TestDatabase.layer, { excludeTestServices: true, timeout: "10 minutes" })(
  "frozen node",
  (it) => {
    it.effect(
      "a node that thaws repeats only mails whose final dot, and SMS whose submit, it had sent before it froze",
      () =>
        Effect.gen(function*() {
          const sink = yield* SmtpSink.make({ script: slowScript })
          const smsc = yield* makeSmsc(() => ({ afterMillis: Math.random() * 40 }))
          const cluster = makeCluster(
            { smtpPort: sink.port, env: { SMS_PROVIDER: "smpp", SMPP_URL: smsc.url } },
            [{ HELO_NAME: helo(0) }, { HELO_NAME: helo(1) }]
          )
          const nodes = [yield* cluster.start, yield* cluster.start]
          const { key } = yield* makeAccount()

          const numbers = Array.from({ length: 500 }, freshNumber)
          const sms = yield* cluster.any(0).request("POST", "/v1/sms/send-bulk", {
            key,
            json: { content: "Hello", recipients: numbers }
          })
          // At 50 a second, claimed parts wait for their time. By now the bind has its node: it may have moved when the second
          // one joined.
          yield* smsc.until(({ submits }) => submits.length > 20, longer.takeover)
          const { node: frozen } = yield* cluster.ownerOf(`"bind":"smpp"`)
          const survivor = nodes.find((node) => node !== frozen) ?? frozen
          const client = helo(nodes.indexOf(frozen))
          const single = { subject: "Hello", text: "Hello" }
          yield* Effect.forEach(
            people(300, "single"),
            (to) => sendEmail(frozen, key, { ...single, to }),
            { concurrency: 20, discard: true }
          )

          // Batches until one is on the node that freezes. They come last, because on a slow machine the requests above
          // take as long as a batch.
          const batches: Array<string> = []
          for (let owner; owner !== frozen; owner = (yield* cluster.ownerOf(runsBatch(batches.at(-1) ?? ""))).node) {
            batches.push(yield* sendBulk(survivor, key, letter(people(500, `batch${batches.length}`))))
          }
          yield* eventually(
            Effect.sync(() => sink.dots.filter(({ to }) => to.startsWith(`batch${batches.length - 1}-`)).length),
            (sent) => sent > 50,
            longer.takeover
          )
          const bindsBefore = smsc.binds()
          yield* frozen.signal("SIGSTOP")
          // What it wrote before arrives within moments. From then on it writes nothing.
          yield* Effect.replicateEffect(Effect.sleep("50 millis"), 20, { discard: true })
          const dotted = new Set(sink.dots.filter((dot) => dot.client === client).map(({ to }) => to))
          const submitted = new Set(smsc.submits.map(({ to }) => to))
          // Its leases and its shards are over once the other node has the batch and the bind.
          yield* survivor.logged(runsBatch(batches.at(-1) ?? ""), longer.takeover)
          yield* smsc.until(({ binds }) => binds() > bindsBefore, longer.takeover)
          yield* frozen.signal("SIGCONT")

          for (const batch of batches) yield* ended(survivor, key, batch)
          const path = `/v1/sms/batches/${String(sms.at("data", "batch_id"))}`
          yield* asking(survivor.request("GET", path, { key }), ({ at }) => at("data", "queued") === 0)
          yield* asking(
            survivor.request("GET", "/v1/email/messages?status=queued&per_page=1", { key }),
            ({ at }) => at("meta", "total") === 0
          )
          assert.deepStrictEqual(yield* cluster.stop(frozen), { code: 0, signal: null })
          const repeated = (all: ReadonlyArray<{ readonly to: string }>) =>
            [...Map.groupBy(all, ({ to }) => to)].filter(([, same]) => same.length > 1).map(([to]) => to)
          const [mails, texts] = [repeated(sink.dots), repeated(smsc.submits)]
          yield* Effect.log(`${mails.length} mails and ${texts.length} SMS were repeated`)
          assert.deepStrictEqual(mails.filter((to) => !dotted.has(to)), [], "not dotted before, but repeated")
          assert.deepStrictEqual(texts.filter((to) => !submitted.has(to)), [], "not submitted before, but repeated")
          const mailed = new Set(sink.messages.flatMap(({ to }) => to))
          assert.strictEqual(mailed.size, batches.length * 500 + 300)
          assert.strictEqual(new Set(smsc.submits.map(({ to }) => to)).size, numbers.length)
        })
    )

    it.effect(
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
          yield* survivor.logged(runsBatch(batch), longer.takeover)
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
        })
    )
  }
)
