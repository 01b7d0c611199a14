import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestDatabase } from "../support/TestDatabase.ts"
import { pairedSession, WhatsApp } from "../support/WhatsApp.ts"
import { inboundAccount } from "../support/whatsAppEvents.ts"
import { hasSession, makeCluster, randomPause } from "./FaultCluster.ts"
import { inTime, rounds } from "./inTime.ts"
import { checkPublished, textsOf, writing, type Written } from "./whatsAppPeople.ts"

/** Seconds until another node has the session and the rest of its messages. */
const longestTakeover = 15

const people = 5

layer(Layer.mergeAll(TestDatabase.layer, WhatsApp.simulated), { excludeTestServices: true, timeout: "10 minutes" })(
  "kill -9 of a node that receives WhatsApp messages",
  (it) => {
    it.effect(
      "a kill during 100 inbound messages loses none, and each is published in one event",
      () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const { env, phone } = yield* WhatsApp
          const cluster = makeCluster({ env })
          yield* Effect.all([cluster.start, cluster.start], { concurrency: 2 })
          const account = yield* inboundAccount(cluster.any(0))
          const session = yield* pairedSession(cluster.any(0), account.key)
          const senders = yield* Effect.forEach(Array.from({ length: people }), () => phone)
          const all: Array<Written> = []
          for (let round = 0; round < rounds; round++) {
            const written = textsOf(100, `kill${round}`).map((text, index) => ({
              text,
              from: senders[index % senders.length] ?? ""
            }))
            all.push(...written)
            const sending = yield* Effect.forkChild(writing(written, session.number, "5 millis"))
            const pause = yield* randomPause(50, 600)
            const owner = yield* cluster.ownerOf(hasSession(session.id))
            const killedAt = yield* cluster.kill(owner.node)
            const [left] =
              yield* sql`select count(*) as journaled, count(*) filter (where done_at is null) as unpublished
            from whatsapp_inbox`
            const { at } = yield* cluster.ownerOf(hasSession(session.id))
            yield* Fiber.join(sending)
            yield* checkPublished(account, all)
            const takeover = (at - killedAt) / 1000
            yield* Effect.log(
              `killed after ${pause} ms with ${String(left?.["journaled"])} journaled, ${
                String(left?.["unpublished"])
              } unpublished: `
                + `taken over in ${takeover.toFixed(1)} s`
            )
            assert.isBelow(takeover, inTime(longestTakeover))
            yield* cluster.start
          }
        }),
      120_000 + rounds * 60_000
    )
  }
)
