import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "../support/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { pairedSession, WhatsApp } from "../support/WhatsApp.ts"
import { inboundAccount } from "../support/whatsAppEvents.ts"
import { hasSession, makeCluster, moment } from "./FaultCluster.ts"
import { inTime, rounds } from "./inTime.ts"

/** Seconds until another node has the session and the rest of its messages. */
const longestTakeover = 15

const people = 5

layer(Layer.mergeAll(TestDatabase.layer, WhatsApp.simulated), { excludeTestServices: true, timeout: "10 minutes" })(
  "kill -9 of a node that takes WhatsApp messages",
  (it) => {
    it.effect(
      "in the middle of 100 of them loses none, and tells of each in one event",
      () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const { env, phone, simulator: { controls } } = yield* WhatsApp
          const cluster = makeCluster({ env })
          yield* Effect.all([cluster.start, cluster.start], { concurrency: 2 })
          const account = yield* inboundAccount(cluster.any(0))
          const session = yield* pairedSession(cluster.any(0), account.key)
          const senders = yield* Effect.forEach(Array.from({ length: people }), () => phone)
          const all: Array<string> = []
          for (let round = 0; round < rounds; round++) {
            const texts = Array.from({ length: 100 }, (_, index) => `kill${round}-${index}`)
            all.push(...texts)
            const sending = yield* Effect.forkChild(Effect.forEach(texts, (text, index) =>
              Effect.andThen(
                Effect.promise(() =>
                  controls.sendText(senders[index % people] ?? "", session.number, {
                    text,
                    addressing: index % 2 === 0 ? "pn" : "lid"
                  })
                ),
                // As people write: one after the other, over the whole time in which the node may die.
                Effect.sleep("5 millis")
              ), { discard: true }))
            const pause = yield* moment(50, 600)
            const owner = yield* cluster.ownerOf(hasSession(session.id))
            const killedAt = yield* cluster.kill(owner.node)
            const [left] = yield* sql`select count(*) as journaled, count(*) filter (where done_at is null) as untold
            from whatsapp_inbox`
            const { at } = yield* cluster.ownerOf(hasSession(session.id))
            yield* Fiber.join(sending)
            const told = yield* account.told("message.received", all.length)
            yield* eventually(sql`select from whatsapp_inbox where done_at is null`, (rows) => rows.length === 0)
            const takeover = (at - killedAt) / 1000
            yield* Effect.log(
              `killed after ${pause} ms with ${String(left?.["journaled"])} journaled, ${
                String(left?.["untold"])
              } untold: `
                + `taken over in ${takeover.toFixed(1)} s`
            )
            const bodies = told.map(({ content }) => (content as { readonly body: string }).body)
            assert.deepStrictEqual(bodies.toSorted(), all.toSorted())
            assert.strictEqual(new Set(told.map(({ message_id }) => message_id)).size, all.length)
            for (const { content, from } of told) {
              const index = Number(/-(\d+)$/.exec((content as { readonly body: string }).body)?.[1])
              assert.strictEqual(from, `+${senders[index % people]}`)
            }
            assert.isBelow(takeover, inTime(longestTakeover))
            yield* cluster.start
          }
          // Every event that was stored: a second one of the same message would be among them.
          const events = yield* sql`select from events where name = 'message.received'`
          assert.strictEqual(events.length, all.length)
        }),
      120_000 + rounds * 60_000
    )
  }
)
