import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { eventually, makeAccount, startNode } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { longer } from "../support/waiting.ts"
import { pairedSession, WhatsApp } from "../support/WhatsApp.ts"
import { inboundAccount } from "../support/whatsAppEvents.ts"
import { accepted, unpaced, untilArrived, untilMessage } from "../support/whatsAppMessages.ts"
import { DurableDatabase } from "./DurableDatabase.ts"
import { makeCluster, now, randomPause } from "./FaultCluster.ts"
import { rounds } from "./inTime.ts"
import {
  checkPhones,
  checkPublished,
  makePeople,
  people,
  settled,
  textsOf,
  troubles,
  writing,
  type Written
} from "./whatsAppPeople.ts"

const layerOptions = { excludeTestServices: true, timeout: "10 minutes" } as const

/** Ids of the outbox's unfinished messages by status. */
const unfinished = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`select whatsapp_id, status from whatsapp_outbox where status in ('queued', 'written')`
  const of = (status: string) => rows.filter((row) => row["status"] === status).map((row) => String(row["whatsapp_id"]))
  return { queued: of("queued"), written: of("written") }
})

layer(Layer.mergeAll(TestDatabase.layer, WhatsApp.simulated), layerOptions)(
  "restart of a node with a WhatsApp session",
  (it) => {
    it.effect(
      "unacknowledged messages are resent under the same ids before the queued ones, and the phone shows each once",
      () =>
        Effect.gen(function*() {
          const { env, phone, simulator: { controls } } = yield* WhatsApp
          const options = { env: { ...env, ...unpaced } }
          let node = yield* startNode(options)
          const { key } = yield* makeAccount()
          const session = yield* pairedSession(node, key)
          const to = yield* phone
          yield* untilMessage(
            node,
            key,
            yield* accepted(node, key, { session_id: session.id, to, content: "hi" }),
            "read"
          )
          // Without receipts, which would prove the arrival of a message whose acknowledgement was lost.
          controls.setReceipts(to, { delivered: false, read: false })
          const received = Effect.sync(() => controls.counters().stanzas["message"] ?? 0)
          for (let round = 0; round < rounds; round++) {
            const receivedBefore = yield* received
            const [conveyed = "", ...swallowed] = textsOf(61, `round${round}`)
            controls.setFault(session.number, { kind: "lose-ack" })
            yield* accepted(node, key, { session_id: session.id, to, content: conveyed })
            yield* untilArrived(to, session.number, 61 * round + 2)
            controls.setFault(session.number, { kind: "no-ack", times: 1_000 })
            const json = { session_id: session.id, recipients: swallowed.map((text) => ({ to, variables: { text } })) }
            yield* node.request("POST", "/v1/whatsapp/send-bulk", { key, json: { ...json, content: "{{text}}" } })
            // One connection takes no more messages while these are unacknowledged.
            const before = yield* eventually(unfinished, ({ written }) => written.length === 51, longer.takeover)
            assert.lengthOf(before.queued, 10)
            // A message that the server reads after the end of the fault would reach the phone.
            yield* eventually(received, (count) => count - receivedBefore >= 51, longer.turn)
            yield* round % 2 === 0 ? node.stop() : node.kill
            assert.deepStrictEqual(yield* unfinished, before)
            controls.clearFaults(session.number)
            node = yield* startNode(options)
            yield* settled(node, key)
            const twice = yield* checkPhones([to], { from: session.number, texts: [conveyed, ...swallowed] })
            assert.strictEqual(twice, 1)
            const names = controls.messages(to).slice(-61).map(({ id }) => id)
            assert.deepStrictEqual(names.toSorted(), [...before.written, ...before.queued].toSorted())
          }
        }),
      60_000 + rounds * 60_000
    )
  }
)

const OwnServer = Layer.mergeAll(
  TestDatabase.layerClient.pipe(Layer.provideMerge(DurableDatabase.layer)),
  WhatsApp.simulated
)

layer(OwnServer, layerOptions)("restart of PostgreSQL with a WhatsApp session", (it) => {
  it.effect(
    "a restart during 200 messages out and 100 in loses none, repeats keep their ids, and each is published once",
    () =>
      Effect.gen(function*() {
        const database = yield* DurableDatabase
        const { env } = yield* WhatsApp
        const cluster = makeCluster({ env: { ...env, ...unpaced } })
        yield* Effect.all([cluster.start, cluster.start], { concurrency: 2 })
        const account = yield* inboundAccount(cluster.any(0))
        const { key } = account
        const session = yield* pairedSession(cluster.any(0), key)
        const phones = yield* makePeople
        const all: Array<Written> = []
        for (let round = 0; round < rounds; round++) {
          const texts = textsOf(200, `restart${round}`)
          const recipients = texts.map((text, index) => ({ to: phones[index % people], variables: { text } }))
          const json = { session_id: session.id, recipients, content: "{{text}}" }
          const answer = yield* eventually(
            cluster.any(0).request("POST", "/v1/whatsapp/send-bulk", { key, json }),
            ({ status }) => status === 202,
            longer.takeover
          )
          const written = textsOf(100, `in${round}`).map((text, index) => ({
            text,
            from: phones[index % people] ?? ""
          }))
          all.push(...written)
          const coming = yield* Effect.forkChild(writing(written, session.number, "20 millis"))
          const pause = yield* randomPause(100, 1_500)
          const restartedAt = yield* now
          yield* database.restart(round % 2 === 0 ? "SIGINT" : "SIGQUIT")
          yield* Fiber.join(coming)
          yield* settled(cluster.any(0), key)
          yield* checkPublished(account, all)
          const seconds = ((yield* now) - restartedAt) / 1000
          const twice = yield* checkPhones(phones, { from: session.number, texts })
          const { retriesAnswered, retriesAsked } = yield* troubles
          yield* Effect.log(
            `restarted after ${pause} ms: all sent and published in ${
              seconds.toFixed(1)
            } s, ${twice} twice under their name; `
              + `so far ${retriesAsked} went and ${retriesAnswered} came at the second try`
          )
          const batch = String(answer.at("data", "batch_id"))
          const { at } = yield* cluster.any(0).request("GET", `/v1/whatsapp/batches/${batch}`, { key })
          assert.deepInclude(at("data"), { status: "completed", total: 200, sent: 200, failed: 0 })
        }
      }),
    120_000 + rounds * 60_000
  )
})
